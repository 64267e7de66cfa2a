/* dpc manual [PAGE]: dpc(1) and dpc-program(1) from the tables, in the form that man reads. */
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

/* In roff a backslash begins a command, a dash is a hyphen, and a dot or a quote at the start of a line a request. */
static void put_text(const char *text)
{
    if (*text == '.' || *text == '\'')
        printf("\\&");
    for (; *text; text++)
        printf(*text == '\\' ? "\\e" : *text == '-' ? "\\-" : "%c", *text);
}

static void put_line(const char *text)
{
    put_text(text);
    putchar('\n');
}

static void put_options(unsigned scope, bool common)
{
    char help[512];
    for (int i = 0; i < OPTION_COUNT; i++) {
        const DpOption *o = &option_table[i];
        if (!(o->scope & scope) || (o->scope == DP_EVERYWHERE && !common))
            continue;
        printf(".TP\n");
        if (o->letter)
            printf("\\fB\\-%c\\fR, ", o->letter);
        printf("\\fB\\-\\-");
        put_text(o->name);
        printf("\\fR");
        if (o->value)
            printf("%s\\fI%s\\fR", o->value[0] == '[' ? "" : " ", o->value);
        putchar('\n');
        dp_option_help(o, help, sizeof help);
        put_line(help);
    }
}

static void put_command(CommandId c)
{
    const Command *row = &command_table[c];
    printf(".SS \\fBdpc ");
    put_text(row->name);
    printf("\\fR [\\fIOPTION\\fR]... ");
    put_text(row->words);
    printf("\nIt ");
    put_text(row->summary);
    printf(".\n");
    if (row->text[0])
        put_line(row->text);
    put_options(command_scope(c) & ~(unsigned)DP_IN_PROGRAM, false);
    if (c == COMMAND_RUN)
        printf(".PP\nThe options of programs are in\n.BR dpc\\-program (1).\n");
}

static void put_statuses(void)
{
    printf(".SH EXIT STATUS\n");
    for (const StatusText *s = status_table; s->text; s++) {
        printf(".TP\n%d\n", s->number);
        put_line(s->text);
    }
}

static void put_variables(bool of_programs)
{
    printf(".SH ENVIRONMENT\n");
    for (const Variable *v = variable_table; v->name; v++) {
        if (of_programs && !(v->scope & DP_IN_PROGRAM))
            continue;
        printf(".TP\n.B %s\n", v->name);
        put_line(v->text);
    }
}

static void put_head(const char *name, const char *title, const char *what)
{
    printf(".TH %s 1 \"\" \"dpc %s\" \"User Commands\"\n.SH NAME\n", title, DPC_VERSION);
    put_text(name);
    printf(" \\- ");
    put_line(what);
}

static void print_compiler_page(void)
{
    put_head("dpc", "DPC", "compiler for DP, a language of nested data parallelism");
    printf(".SH SYNOPSIS\n.B dpc\n.I COMMAND\n.RI [ OPTION ]...\n.RI [ WORD ]...\n.SH DESCRIPTION\n");
    put_line("dpc compiles .dp programs to executables that run on OpenCL devices, runs them on interpreters, tests, "
             "formats and explains them. Options stand before or behind the words; -- ends them. Long options may be "
             "shortened, as far as they stay clear. All commands have --help and --version.");
    printf(".SH COMMANDS\n");
    for (CommandId c = 0; c < COMMAND_COUNT; c++)
        put_command(c);
    put_statuses();
    put_variables(false);
    printf(".SH SEE ALSO\n.BR dpc\\-program (1),\nthe documentation in\n.IR /usr/share/doc/dpc .\n");
}

static void print_program_page(void)
{
    put_head("dpc-program", "DPC\\-PROGRAM", "what executables made by dpc have in common");
    printf(".SH SYNOPSIS\n.I PROGRAM\n.RI [ OPTION ]...\n.RI [ ARG ]...\n.SH DESCRIPTION\n");
    put_line("Executables that dpc build makes of .dp programs have these options, as dpc run has.");
    put_line(command_table[COMMAND_RUN].text);
    printf(".SH OPTIONS\n");
    put_options(DP_IN_PROGRAM, true);
    put_statuses();
    put_variables(true);
    printf(".SH SEE ALSO\n.BR dpc (1)\n");
}

int command_manual(const CommandLine *a)
{
    const char *page = a->n ? a->words[0] : "dpc";
    if (strcmp(page, "dpc") == 0)
        print_compiler_page();
    else if (strcmp(page, "dpc-program") == 0)
        print_program_page();
    else
        return usage_error("dpc manual takes %s, not %s", command_table[COMMAND_MANUAL].takes, page);
    return EXIT_OK;
}
