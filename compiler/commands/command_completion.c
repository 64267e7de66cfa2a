/* dpc completion SHELL: from the tables. */
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

/* The text within single quotes of a shell; a backslash before those of `special`. */
static void print_quoted(const char *text, const char *special)
{
    for (putchar('\''); *text; text++) {
        if (strchr(special, *text))
            putchar('\\');
        if (*text == '\'')
            fputs("'\\'", stdout);
        putchar(*text);
    }
    putchar('\'');
}

static bool takes_programs(const Command *c) { return strstr(c->words, ".dp") != NULL; }
/* Behind the program's name, files of all kinds. */
static bool takes_arguments(CommandId c) { return strstr(command_table[c].words, "[ARG]") != NULL; }

/* The words that one of the command's may be: of help and explain-error the tables' own. */
static void print_words(CommandId c)
{
    if (c == COMMAND_HELP)
        for (CommandId other = 0; other < COMMAND_COUNT; other++)
            printf(" %s", command_table[other].name);
    else if (c == COMMAND_EXPLAIN_ERROR)
        for (int i = DIAG_NONE + 1; i < DIAG_CODE_COUNT; i++)
            printf(" %s", diag_codes[i].code);
    else if (c == COMMAND_COMPLETION)
        printf(" bash zsh fish");
    else if (c == COMMAND_MANUAL)
        printf(" dpc dpc-program");
}

/* ---- bash ---- */

static void print_bash_options(CommandId c)
{
    printf("        %s:-*) words='", command_table[c].name);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const DpOption *o = &option_table[i];
        if (o->scope & command_scope(c))
            printf(o->letter ? "--%s -%c " : "--%s ", o->name, o->letter);
    }
    printf("' ;;\n");
}

/* What comes behind an option that has a value. */
static void print_bash_values(CommandId c)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const DpOption *o = &option_table[i];
        if (!(o->scope & command_scope(c)) || !o->value)
            continue;
        printf("        %s:--%s", command_table[c].name, o->name);
        if (o->letter)
            printf(" | %s:-%c", command_table[c].name, o->letter);
        printf(") words='%s' files=%s found=1 ;;\n", o->choices ? o->choices : "",
               strcmp(o->value, "FILE") == 0 ? "any" : "none");
    }
}

static void print_bash(void)
{
    printf("# Completion of dpc for bash: source this, or put it into bash-completion's folder as dpc.\n"
           "_dpc() {\n"
           "    local word=$2 before=$3 command=${COMP_WORDS[1]} words='' files=none found=''\n"
           "    COMPREPLY=()\n"
           "    [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]} # --eval=core are three words here\n"
           "    if [ \"$word\" = = ]; then word=''; fi\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        words='");
    for (CommandId c = 0; c < COMMAND_COUNT; c++)
        printf("%s ", command_table[c].name);
    printf("--help --version' found=1\n"
           "    else case $command:$before in\n");
    for (CommandId c = 0; c < COMMAND_COUNT; c++)
        print_bash_values(c);
    printf("        esac\n"
           "    fi\n"
           "    [ \"$found\" ] || case $command:$word in\n");
    for (CommandId c = 0; c < COMMAND_COUNT; c++)
        print_bash_options(c);
    for (CommandId c = 0; c < COMMAND_COUNT; c++) {
        printf("        %s:*) files=%s words='", command_table[c].name,
               takes_arguments(c)                  ? "any"
               : takes_programs(&command_table[c]) ? "programs"
                                                   : "none");
        print_words(c);
        printf("' ;;\n");
    }
    printf("    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    case $files in\n"
           "        programs) COMPREPLY+=($(compgen -f -X '!*.dp' -- \"$word\") $(compgen -d -- \"$word\")) ;;\n"
           "        any) COMPREPLY+=($(compgen -f -- \"$word\")) ;;\n"
           "    esac\n"
           "    [ \"$files\" = none ] || compopt -o filenames\n"
           "}\n"
           "complete -F _dpc dpc\n");
}

/* ---- zsh ---- */

static void print_zsh_option(const DpOption *o, const char *form)
{
    bool needs = o->value && o->value[0] != '[', may = o->value && !needs;
    printf(" \\\n                '%s%s", form, !o->value ? "[" : form[1] != '-' ? "+[" : may ? "=-[" : "=[");
    for (const char *c = o->help; *c; c++)
        printf(strchr("[]:\\", *c) ? "\\%c" : *c == '\'' ? "'\\'%c" : "%c", *c);
    printf("]");
    if (o->value)
        printf("%s:value:", may ? ":" : "");
    if (o->value && o->choices)
        printf("(%s)", o->choices);
    else if (o->value && strcmp(o->value, "FILE") == 0)
        printf("_files");
    printf("'");
}

static void print_zsh_command(CommandId c)
{
    printf("        %s)\n            _arguments", command_table[c].name);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const DpOption *o = &option_table[i];
        char form[64];
        if (!(o->scope & command_scope(c)))
            continue;
        snprintf(form, sizeof form, "--%s", o->name);
        print_zsh_option(o, form);
        snprintf(form, sizeof form, "-%c", o->letter);
        if (o->letter)
            print_zsh_option(o, form);
    }
    if (takes_programs(&command_table[c])) {
        printf(" \\\n                '1:program:_files -g \"*.dp\"' '*:file:_files%s'",
               takes_arguments(c) ? "" : " -g \"*.dp\"");
    } else if (command_table[c].most > 0) {
        printf(" \\\n                '1:word:(");
        print_words(c);
        printf(")'");
    }
    printf("\n            ;;\n");
}

static void print_zsh(void)
{
    printf("#compdef dpc\n"
           "# Completion of dpc for zsh: put this into a folder of fpath as _dpc.\n"
           "_dpc() {\n"
           "    local -a commands\n"
           "    commands=(\n");
    for (CommandId c = 0; c < COMMAND_COUNT; c++) {
        printf("        %s:", command_table[c].name);
        print_quoted(command_table[c].summary, ":");
        putchar('\n');
    }
    printf("    )\n"
           "    if ((CURRENT == 2)); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    ((CURRENT--))\n"
           "    case $words[1] in\n");
    for (CommandId c = 0; c < COMMAND_COUNT; c++)
        print_zsh_command(c);
    printf("    esac\n"
           "}\n"
           "_dpc \"$@\"\n");
}

/* ---- fish ---- */

static void print_fish_command(CommandId c)
{
    const Command *row = &command_table[c];
    printf("complete -c dpc -n __fish_use_subcommand -f -a %s -d ", row->name);
    print_quoted(row->summary, "\\");
    printf("\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const DpOption *o = &option_table[i];
        if (!(o->scope & command_scope(c)))
            continue;
        printf("complete -c dpc -n '__fish_seen_subcommand_from %s' -l %s", row->name, o->name);
        if (o->letter)
            printf(" -s %c", o->letter);
        if (o->value && o->value[0] != '[')
            printf(strcmp(o->value, "FILE") == 0 ? " -r -F" : " -x");
        if (o->choices)
            printf(" -a '%s'", o->choices);
        printf(" -d ");
        print_quoted(o->help, "\\");
        printf("\n");
    }
    if (takes_programs(row))
        return;
    printf("complete -c dpc -n '__fish_seen_subcommand_from %s' -f -a '", row->name);
    print_words(c);
    printf("'\n");
}

static void print_fish(void)
{
    printf("# Completion of dpc for fish: put this into ~/.config/fish/completions as dpc.fish.\n");
    for (CommandId c = 0; c < COMMAND_COUNT; c++)
        print_fish_command(c);
}

int command_completion(const CommandLine *a)
{
    const char *shell = a->words[0];
    if (strcmp(shell, "bash") == 0)
        print_bash();
    else if (strcmp(shell, "zsh") == 0)
        print_zsh();
    else if (strcmp(shell, "fish") == 0)
        print_fish();
    else
        return usage_error("dpc completion takes %s, not %s", command_table[COMMAND_COMPLETION].takes, shell);
    return EXIT_OK;
}
