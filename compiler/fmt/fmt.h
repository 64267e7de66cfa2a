/* The formatter behind `dpc fmt`. The rules, for users, are in docs/tools.md.
 *
 * It keeps every token and every comment, in their order, and only chooses the white space between them. The author's
 * line breaks stay; a line that is too long gets further ones. Three things are decided for each token
 * (fmt_internal.h): the blanks in front of it where it does not begin a line (`gap`), its column where it does
 * (`places`, relative to a token before it), and whether a long line may be broken in front of it (`level`).
 *
 *     fmt_read.c    tokens, comments and the author's line breaks, from the text
 *     fmt_layout.c  the decisions, by a walk over the syntax tree
 *     fmt_place.c   its words: tokens, places, breaks
 *     fmt_write.c   columns, alignment, long lines, text
 *     fmt.c         the whole, and the proof that nothing but white space has changed */
#ifndef DPC_FMT_H
#define DPC_FMT_H

#include "support/session.h"
#include "support/strbuf.h"

enum { FMT_WIDTH = 120 };

typedef enum FmtStatus {
    FMT_OK,
    FMT_WRONG,   /* the file is no program: errors are in the session's diagnostics */
    FMT_INTERNAL /* the result would differ in more than white space: a bug of the formatter */
} FmtStatus;

/* Appends the formatted text of a file of the session to *out; nothing unless FMT_OK. */
FmtStatus fmt_file(Session *s, uint32_t file, StrBuf *out);

#endif
