/* dpc help [COMMAND], and dpc COMMAND --help: from the tables. */
#include "commands/commands.h"

#include "dp_rt.h"

#include <stdio.h>
#include <string.h>

void print_overview(FILE *out)
{
    fprintf(out,
            "dpc, a compiler for DP, a nested data-parallel language\n\nUsage: dpc COMMAND [OPTION]... [WORD]...\n\n");
    for (CommandId c = 0; c < COMMAND_COUNT; c++)
        fprintf(out, "  dpc %-13s %-17s %s\n", command_table[c].name, command_table[c].words, command_table[c].summary);
    fprintf(out, "\n`dpc help COMMAND` shows the options of a command, `dpc help run` those of programs, too.\n"
                 "Options stand before or behind the words; -- ends them.\n\nExit status:\n");
    for (const StatusText *s = status_table; s->text; s++)
        fprintf(out, "  %d  %s\n", s->number, s->text);
    fprintf(out, "\nEnvironment:\n");
    for (const Variable *v = variable_table; v->name; v++)
        fprintf(out, "  %-21s %s\n", v->name, v->text);
}

void print_command_help(CommandId c)
{
    const Command *row = &command_table[c];
    const char *blank = row->words[0] ? " " : "";
    printf("Usage: dpc %s [OPTION]...%s%s\n\ndpc %s %s.\n", row->name, blank, row->words, row->name, row->summary);
    if (row->text[0])
        dp_print_wrapped(stdout, row->text, 0, 0);
    printf("\nOptions:\n");
    dp_options_print(stdout, option_table, OPTION_COUNT, command_scope(c) & ~(unsigned)DP_IN_PROGRAM);
    if (c != COMMAND_RUN)
        return;
    printf("\nOptions of the program:\n");
    dp_options_print(stdout, option_table, OPTION_COUNT, DP_IN_PROGRAM);
}

int command_help(const CommandLine *a)
{
    if (a->n == 0) {
        print_overview(stdout);
        return EXIT_OK;
    }
    if (strcmp(a->words[0], "params") == 0) {
        dp_params_print(stdout);
        return EXIT_OK;
    }
    CommandId c = command_find(a->words[0]);
    if (c == COMMAND_COUNT)
        return unknown_command(a->words[0]);
    print_command_help(c);
    return EXIT_OK;
}
