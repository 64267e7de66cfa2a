/* dpc lsp: the language server. */
#include "commands/commands.h"
#include "lsp/lsp.h"

#include <unistd.h>

int command_lsp(const CommandLine *a)
{
    (void)a;
    return lsp_serve(STDIN_FILENO, STDOUT_FILENO);
}
