/* What the files of dpc repl share. */
#ifndef DPC_REPL_INTERNAL_H
#define DPC_REPL_INTERNAL_H

#include "repl/repl.h"

/* Texts are the heap's. */
typedef struct ReplPart {
    char *path, *text;
    size_t bytes;
    uint32_t lines_before;
    bool is_file;
} ReplPart;

struct Repl {
    ReplOptions options;
    char *device;    /* chosen by :device; or NULL */
    ReplPart *parts; /* of definitions */
    uint32_t nparts;
    uint32_t lines;      /* read so far */
    unsigned interrupts; /* so far */
    bool gave_up;        /* Ctrl-C came before the last line: it begins anew */
    bool quit;
    Arena *words; /* of repl_words; or NULL */
};

/* ---- repl_program.c: programs of the session ---- */

/* The session's program, with one part more if there is a text; nothing of it is compiled. Its session's arena has what
 * of the part is needed. */
typedef enum ReplKind { REPL_NOTHING, REPL_EXPRESSION, REPL_DEFINITIONS, REPL_FILE } ReplKind;
Compilation *repl_compilation(const Repl *r, ReplKind kind, const char *path, const char *text, uint32_t lines_before);
/* Does it begin with a definition's word? */
ReplKind repl_kind(const char *text);
/* Does the grammar want more behind it? `let f x = e` without an `in` is made the definition that it is meant as. */
bool repl_is_incomplete(char *text);
/* The definitions of the session's last part, or of all, with their types. */
void repl_print_definitions(const Compilation *c, bool all);
bool repl_keep(Repl *r, ReplKind kind, const char *path, const char *text, uint32_t lines_before);
void repl_forget(Repl *r);
/* The file's text, the heap's; NULL after a message. */
char *repl_read_file(const char *path);

/* ---- repl_eval.c ---- */

/* Evaluates what has been compiled to the session's stage, so often (0: once, and it takes no times). */
void repl_evaluate(const Repl *r, Compilation *c, unsigned runs);
void repl_list_devices(const Repl *r);

#endif
