/* dpc lsp: the language server (Language Server Protocol 3.17, JSON-RPC over standard streams).
 *
 *     server.c      messages, and which function answers which
 *     document.c    open documents, and places in them: lines and UTF-16 units
 *     analysis.c    a document, parsed and checked; every name in it, with what it stands for
 *     features.c    diagnostics, hover, hints, lenses, symbols, formatting
 *     references.c  a definition and all places that mean it, over files; rename.c changes them
 *     workspace.c   files that are not open; library_files.c: those of the library, for editors
 *     run_test.c    the command behind a lens
 *     completion.c  what may be typed, and which parameter is
 *
 * A document is analysed when something is asked of it, or when no message waits. Texts are broken most of the time:
 * what could be parsed is checked all the same, and completion goes by the last text that had no mistake in its
 * grammar. */
#ifndef DPC_LSP_H
#define DPC_LSP_H

/* Serves until `exit`, or the end of the input. The exit status: 0 after `shutdown`, else 1. */
int lsp_serve(int in, int out);

#endif
