/* The session: one run of the compiler. Owns the arena, the names, the source files and the
 * diagnostics. Passed along everywhere; there are no mutable globals.
 *
 * Names are interned: two `Name`s are equal exactly when their pointers are.
 *
 * A `Span` is a place in a source file: byte offsets [start, end). Lines and columns (1-based,
 * columns in bytes) are computed only when something is reported.
 *
 * Diagnostics are collected, sorted by place and capped when printed:
 *
 *     f.dp:3:9: error: expected i64, found f64 [E0301]
 *       let y = x + 1.5
 *               ^^^^^^^
 *     f.dp:2:8: note: `x` is declared here
 *       …
 * or, where the session asks for it, as JSON, one object a line. */
#ifndef DPC_SESSION_H
#define DPC_SESSION_H

#include "support/arena.h"
#include "support/strbuf.h"

#include <stdbool.h>
#include <stdio.h>

typedef const char *Name; /* interned, NUL-terminated */

typedef struct Span {
    uint32_t file;       /* index into Session.files */
    uint32_t start, end; /* byte offsets */
    uint32_t origin;     /* of what was expanded from the library: its place there, else 0; see source_origin */
} Span;
static inline Span span_make(uint32_t file, uint32_t start, uint32_t end)
{
    return (Span){.file = file, .start = start, .end = end};
}

typedef struct SourceFile {
    const char *path; /* as the user wrote it; what messages print */
    const char *text; /* NUL-terminated copy */
    uint32_t length;
    bool is_stdlib;         /* part of the embedded library: messages point at its caller instead */
    bool is_library_source; /* a module of the library on disk, whose tests are run: may use its internal names */
    bool is_quiet;          /* no warnings about it: they have been given */
    uint32_t lines_before;  /* of a part of a session: its first line has the number behind */
    uint32_t first_origin;  /* of a file of the library: the origin of its first byte */
    uint32_t *lines;        /* offsets of line starts, computed on first use */
    uint32_t nlines;
} SourceFile;

typedef enum DiagLevel { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } DiagLevel;

/* What kind of error or warning it is: diag_codes.def. DIAG_NONE has no code: run-time errors. */
typedef enum DiagCode {
    DIAG_NONE,
#define DIAG_CODE(name, code, title) DIAG_##name,
#include "support/diag_codes.def"
#undef DIAG_CODE
    DIAG_CODE_COUNT
} DiagCode;

typedef struct DiagCodeInfo {
    const char *code, *title;
} DiagCodeInfo;
extern const DiagCodeInfo diag_codes[DIAG_CODE_COUNT]; /* by DiagCode; NULL texts for DIAG_NONE */

/* What becomes of warnings. As errors they are printed as such, but nothing stops at them: `warning_count` tells. */
typedef enum WarningMode { WARNINGS_SHOWN, WARNINGS_HIDDEN, WARNINGS_AS_ERRORS } WarningMode;

/* Texts that stand for those of files, such as what an editor has not saved: NULL, or the text of *n bytes. */
typedef struct SourceOverlay SourceOverlay;
struct SourceOverlay {
    const char *(*text)(const SourceOverlay *overlay, const char *path, size_t *n);
};

typedef struct Session Session;
struct Session {
    Arena *arena;
    VEC(SourceFile *) files;
    uint32_t error_count;
    bool diag_json; /* diag_print writes JSON */
    struct Interner *interner;
    struct DiagList *diags;
    WarningMode warnings;
    uint32_t warning_count;
    const SourceOverlay *overlay; /* or NULL */
    FILE *messages;               /* where the driver reports to; NULL: standard error */
};

Session *session_create(void);
void session_destroy(Session *s);

Name intern(Session *s, const char *text, size_t n);
Name intern_cstr(Session *s, const char *text);

/* Adds a file whose text is given (copied). Returns its index. */
uint32_t source_add_text(Session *s, const char *path, const char *text, size_t n, bool is_stdlib);
/* Reads a file from disk, or what is left of a stream, 64 MB at most; UINT32_MAX and a message in *why on failure. */
uint32_t source_add_file(Session *s, const char *path, const char **why);
uint32_t source_add_stream(Session *s, const char *path, FILE *in, const char **why);

typedef struct LineCol {
    uint32_t line, col;
} LineCol;
LineCol source_linecol(Session *s, uint32_t file, uint32_t offset);
/* The text of a line without its newline; its length in *n. */
const char *source_line(Session *s, uint32_t file, uint32_t line, uint32_t *n);

/* Code that is expanded from the library is its caller's: that is its place, and `origin` says where it is written: the
 * library's files are numbered byte by byte, one after another, from 1. */
uint32_t source_origin(const Session *s, Span in_library);
/* The place that the origin stands for: an empty span. The origin is not 0. */
Span source_of_origin(const Session *s, uint32_t origin);

static inline Span span_join(Span a, Span b) { return span_make(a.file, a.start, b.end); }

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void diag_error(Session *s, Span at, DiagCode code, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void diag_warning(Session *s, Span at, DiagCode code, const char *format, ...);
/* A note belongs to the error or warning reported just before it. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void diag_note(Session *s, Span at, const char *format, ...);
/* A note without a place; its text may have several lines. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void diag_note_text(Session *s, const char *format, ...);
/* The place of what belongs to no file. */
#define SPAN_NONE ((Span){.file = UINT32_MAX})

/* Prints all diagnostics, sorted by place, notes behind their error, at most 20 errors (as JSON all of
 * them); then forgets them. `colour` adds ANSI colours. */
void diag_print(Session *s, FILE *out, bool colour);
/* The diagnostics that have not been printed, in the order in which they came. */
typedef struct DiagMessage {
    DiagLevel level;
    DiagCode code;
    Span at;
    const char *text;
} DiagMessage;
typedef struct DiagView {
    DiagMessage head;
    const DiagMessage *notes;
    uint32_t nnotes;
} DiagView;
/* What diag_print shows of a place: the line of source and, below it, carets, without the last newline; and of a text:
 * what is not for terminals is spelt out. */
const char *diag_quote(Arena *a, Session *s, Span at);
const char *diag_visible(Arena *a, const char *text);
uint32_t diag_count(const Session *s);
DiagView diag_at(const Session *s, uint32_t index);
/* A string of JSON. What is not UTF-8 is shown as in diagnostics, \xNN: JSON knows no other text. */
void diag_json_string(StrBuf *out, const char *text);

#endif
