/* dpc build, run, check, dump and devices. */
#include "commands.h"
#include "dp_args.h"
#include "dp_rt.h"
#include "toolchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

/* "path/f.dp" gives "path/f"; NULL for other endings. */
static char *name_without_ending(Arena *arena, const char *path)
{
    size_t n = strlen(path);
    bool is_dp = n > 3 && strcmp(path + n - 3, ".dp") == 0 && path[n - 4] != '/';
    return is_dp ? arena_strndup(arena, path, n - 3) : NULL;
}

static int temporary_failed(Compilation *c)
{
    report_error(c->session, "cannot make a temporary folder: %s", strerror(errno));
    return EXIT_USAGE;
}

/* The name of a file for execution: without a slash it would be looked for in PATH. */
static const char *as_command(Arena *arena, const char *path)
{
    return strchr(path, '/') ? path : arena_printf(arena, "./%s", path);
}

/* ---- dpc build ---- */

typedef struct BuildOptions { const char *file, *output; MessageOptions messages; } BuildOptions;

static int read_build_options(BuildOptions *o, int argc, char **argv)
{
    int status = EXIT_OK;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0) {
            if (++i == argc)
                return usage_error("-o takes the name of a file");
            o->output = argv[i];
        } else if (diagnostics_option(argv[i], &o->messages, &status)) {
            if (status)
                return status;
        } else if (dp_arg_is_option(argv[i])) {
            return usage_error("dpc build has no option %s", argv[i]);
        } else if (o->file) {
            return usage_error("dpc build takes one file, but %s is another", argv[i]);
        } else {
            o->file = argv[i];
        }
    }
    return o->file ? EXIT_OK : usage_error("dpc build takes the name of a .dp file");
}

int command_build(int argc, char **argv)
{
    BuildOptions o = {0};
    int status = read_build_options(&o, argc, argv);
    if (status)
        return status;
    Compilation *c = compilation_create(o.file);
    set_messages(c->session, o.messages);
    if (!o.output)
        o.output = name_without_ending(c->session->arena, o.file);
    TempFolder folder;
    if (!o.output)
        status = usage_error("%s does not end in .dp: name the executable with -o", o.file);
    else if (!compile_to(c, STAGE_FLAT))
        status = EXIT_USAGE;
    else if (!temp_folder_create(&folder))
        status = temporary_failed(c);
    else {
        status = toolchain_build(c, &folder, o.output) ? EXIT_OK : EXIT_USAGE;
        temp_folder_remove(&folder);
    }
    compilation_destroy(c);
    return status;
}

/* ---- dpc run, on a device: argv[0] is the .dp file, the rest belongs to the program ---- */

static int run_executable(Compilation *c, const char *program, int argc, char **argv)
{
    char **words = arena_array(c->session->arena, char *, argc + 1);
    words[0] = arena_printf(c->session->arena, "%s", as_command(c->session->arena, program));
    for (int i = 1; i < argc; i++) words[i] = argv[i];
    int status = process_run(words, (ProcessStreams){0});
    if (status < 0)
        report_error(c->session, "cannot run %s: %s", words[0], strerror(errno));
    return status < 0 ? EXIT_USAGE : status;
}

static int run_on_device(MessageOptions messages, int argc, char **argv)
{
    Compilation *c = compilation_create(argv[0]);
    set_messages(c->session, messages);
    TempFolder folder;
    int status = EXIT_USAGE;
    if (!compile_to(c, STAGE_FLAT)) {
        status = EXIT_USAGE;
    } else if (!temp_folder_create(&folder)) {
        status = temporary_failed(c);
    } else {
        char program[sizeof folder.path + 16];
        temp_folder_file(&folder, "program", program, sizeof program);
        if (toolchain_build(c, &folder, program))
            status = run_executable(c, program, argc, argv);
        temp_folder_remove(&folder);
    }
    compilation_destroy(c);
    return status;
}

/* ---- dpc run --eval: the same options and arguments, as far as they mean something here ---- */

typedef struct ProgramOptions {
    const char *entry, *output;
    char **args;
    int nargs;
    bool help;
} ProgramOptions;

/* Options of executables that choose or measure devices, and whether a value follows: accepted and passed over. */
static bool skip_device_option(const char *arg, bool *takes_value)
{
    static const struct { const char *name; bool value; } options[] = {
        {"--device", true}, {"--platform", true}, {"-r", true}, {"-t", true}, {"--profile", false}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(arg, options[i].name) == 0) {
            *takes_value = options[i].value;
            return true;
        }
    return false;
}

static int read_program_options(ProgramOptions *o, int argc, char **argv)
{
    bool options = true, takes_value = false;
    o->args = argv; /* moved up in place */
    for (int i = 0; i < argc; i++) {
        const char **value = NULL;
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            continue;
        }
        if (!options || !dp_arg_is_option(argv[i])) {
            o->args[o->nargs++] = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--entry") == 0)
            value = &o->entry;
        else if (strcmp(argv[i], "-o") == 0)
            value = &o->output;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            o->help = true;
        else if (skip_device_option(argv[i], &takes_value))
            i += takes_value;
        else
            return usage_error("there is no option %s", argv[i]);
        if (value && ++i == argc)
            return usage_error("%s takes a value", argv[i - 1]);
        if (value)
            *value = argv[i];
    }
    return EXIT_OK;
}

static int print_entries(const Compilation *c)
{
    for (uint32_t i = 0; i < c->core->entries.n; i++) printf("entry %s\n", c->core->entries.at[i].signature);
    return EXIT_OK;
}

static bool read_arguments(Compilation *c, const EntryTypes *t, const ProgramOptions *o, DpLeaf *leaves)
{
    DpParam *params = calloc((size_t)t->entry->nparams + 1, sizeof *params);
    char error[512];
    bool ok = params != NULL;
    if (!ok)
        snprintf(error, sizeof error, "out of memory");
    for (uint32_t i = 0; ok && i < t->entry->nparams; i++) {
        params[i] = (DpParam){t->entry->param_names[i], t->params[i], leaves};
        leaves += dp_type_leaves(t->params[i]);
    }
    ok = ok && dp_read_args(o->nargs, o->args, params, t->entry->nparams, error, sizeof error);
    if (!ok)
        report_error(c->session, "%s", error);
    free(params);
    return ok;
}

static int write_result(Compilation *c, const EntryTypes *t, const ProgramOptions *o, const DpLeaf *result)
{
    char error[512];
    if (o->output) {
        if (dp_write_file(o->output, t->result, result, error, sizeof error))
            return EXIT_OK;
        report_error(c->session, "%s", error);
        return EXIT_USAGE;
    }
    dp_write_text(stdout, t->result, result);
    putchar('\n');
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    report_error(c->session, "cannot write the result: %s", strerror(errno));
    return EXIT_USAGE;
}

static int eval_and_write(Compilation *c, const EntryTypes *t, const ProgramOptions *o, DpLeaf *args, DpLeaf *result)
{
    EvalError error;
    if (!read_arguments(c, t, o, args))
        return EXIT_USAGE;
    EvalStatus status = entry_eval(c, t, args, result, &error);
    dp_leaves_free(args, entry_arg_leaves(t));
    if (status == EVAL_MEMORY) {
        report_error(c->session, "out of memory");
        return EXIT_MEMORY;
    }
    if (status == EVAL_FAILED) {
        compilation_report(c, &error);
        return error.site == CORE_NO_SITE && error.text && strstr(error.text, "out of memory") ? EXIT_MEMORY
                                                                                             : EXIT_PROGRAM;
    }
    int written = write_result(c, t, o, result);
    dp_leaves_free(result, dp_type_leaves(t->result));
    return written;
}

/* --entry, else main, else the only one. */
static const char *entry_name(const Compilation *c, const ProgramOptions *o)
{
    if (o->entry || compilation_entry(c, "main") || c->core->entries.n != 1)
        return o->entry ? o->entry : "main";
    return c->core->entries.at[0].name;
}

static int run_entry(Compilation *c, const ProgramOptions *o)
{
    EntryTypes t;
    if (!entry_types_make(&t, c, entry_name(c, o)))
        return EXIT_USAGE;
    DpLeaf *args = calloc((size_t)entry_arg_leaves(&t) + 1, sizeof *args);
    DpLeaf *result = calloc(dp_type_leaves(t.result), sizeof *result);
    int status = args && result ? eval_and_write(c, &t, o, args, result) : EXIT_MEMORY;
    free(args);
    free(result);
    entry_types_free(&t);
    return status;
}

static int run_interpreted(Stage stage, MessageOptions messages, int argc, char **argv)
{
    ProgramOptions o = {0};
    int status = read_program_options(&o, argc - 1, argv + 1);
    if (status)
        return status;
    Compilation *c = compilation_create(argv[0]);
    set_messages(c->session, messages);
    status = !compile_to(c, stage) ? EXIT_USAGE : o.help ? print_entries(c) : run_entry(c, &o);
    compilation_destroy(c);
    return status;
}

Stage evaluator_stage(const char *name, size_t n)
{
    for (Stage s = STAGE_CORE; s <= STAGE_FLAT; s++)
        if (n == strlen(stage_name(s)) && memcmp(name, stage_name(s), n) == 0)
            return s;
    return STAGE_NONE;
}

int command_run(int argc, char **argv)
{
    Stage stage = STAGE_NONE;
    MessageOptions messages = {0};
    int i = 0, status = EXIT_OK;
    for (; i < argc && dp_arg_is_option(argv[i]) && status == EXIT_OK; i++) {
        if (diagnostics_option(argv[i], &messages, &status))
            continue;
        const char *name = option_value(argv[i], "--eval");
        if (!name)
            return usage_error("dpc run has no option %s; options of the program stand behind the file", argv[i]);
        stage = evaluator_stage(name, strlen(name));
        if (!stage && strcmp(name, "device") != 0)
            return usage_error("--eval takes core, fused, flat or device");
    }
    if (status)
        return status;
    if (i == argc)
        return usage_error("dpc run takes the name of a .dp file");
    return stage ? run_interpreted(stage, messages, argc - i, argv + i) : run_on_device(messages, argc - i, argv + i);
}

/* ---- dpc check, dump, devices ---- */

int command_check(int argc, char **argv)
{
    MessageOptions messages = {0};
    int i = 0, status = EXIT_OK;
    for (; i < argc && dp_arg_is_option(argv[i]); i++) {
        if (!diagnostics_option(argv[i], &messages, &status))
            return usage_error("dpc check has no option %s", argv[i]);
        if (status)
            return status;
    }
    if (i == argc)
        return usage_error("dpc check takes the names of .dp files");
    for (; i < argc; i++) {
        if (dp_arg_is_option(argv[i]))
            return usage_error("dpc check has no option %s behind a file", argv[i]);
        Compilation *c = compilation_create(argv[i]);
        set_messages(c->session, messages);
        if (!compile_to(c, STAGE_FLAT))
            status = EXIT_USAGE;
        compilation_destroy(c);
    }
    return status;
}

static int dump_stage(Stage stage, const char *file, MessageOptions messages)
{
    Compilation *c = compilation_create(file);
    set_messages(c->session, messages);
    StrBuf text = {0};
    bool ok = compile_to(c, stage);
    if (ok)
        compilation_print(&text, c, stage);
    ok = ok && c->session->error_count == 0;
    report_diagnostics(c->session);
    if (ok && text.n)
        fwrite(text.text, 1, text.n, stdout);
    strbuf_free(&text);
    compilation_destroy(c);
    return ok && fflush(stdout) == 0 ? EXIT_OK : EXIT_USAGE;
}

int command_dump(int argc, char **argv)
{
    Stage stage = STAGE_NONE;
    const char *file = NULL;
    MessageOptions messages = {0};
    int status = EXIT_OK;
    for (int i = 0; i < argc && status == EXIT_OK; i++) {
        if (diagnostics_option(argv[i], &messages, &status))
            continue;
        const char *name = option_value(argv[i], "--stage");
        if (name)
            stage = stage_find(name);
        if (name && !stage)
            return usage_error("--stage takes ast, types, core, fused, flat, plan, opencl or host");
        if (!name && (dp_arg_is_option(argv[i]) || file))
            return usage_error("dpc dump does not take %s", argv[i]);
        if (!name)
            file = argv[i];
    }
    if (status)
        return status;
    if (!file || !stage)
        return usage_error("dpc dump takes --stage=S and the name of a .dp file");
    return dump_stage(stage, file, messages);
}

/* The runtime library knows the devices; a program without entries asks it. */
int command_devices(int argc, char **argv)
{
    if (argc > 0)
        return usage_error("dpc devices does not take %s", argv[0]);
    static const DpProgram nothing = {.version = DP_RT_VERSION, .file = "dpc"};
    char *words[] = {(char[]){"dpc"}, (char[]){"--list-devices"}, NULL};
    return dp_main(2, words, &nothing);
}
