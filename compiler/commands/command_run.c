/* dpc build, run, check, dump and devices. */
#include "commands/commands.h"
#include "dp_args.h"
#include "dp_output.h"
#include "dp_rt.h"
#include "commands/program_options.h"
#include "commands/toolchain.h"
#include "support/memory.h"

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
    int status = (int)dp_write_status();
    report_error(c->session, "cannot make a temporary folder in %s: %s", temp_folder_base(), strerror(errno));
    return status;
}

/* Is the output one of the program's own files, under whatever name? */
static bool replaces_source(Compilation *c, const char *output)
{
    for (uint32_t i = 0; i < c->session->files.n; i++) {
        const SourceFile *file = c->session->files.at[i];
        if (!file->is_stdlib && dp_output_replaces(output, file->path)) {
            report_error(c->session, "the output %s would replace the program's file %s", output, file->path);
            return true;
        }
    }
    return false;
}

/* ---- dpc build ---- */

typedef struct BuildOptions {
    const char *file, *output;
    MessageOptions messages;
} BuildOptions;

static int read_build_options(BuildOptions *o, int argc, char **argv)
{
    int status = EXIT_OK;
    bool options = true;
    for (int i = 0; status == EXIT_OK && i < argc; i++) {
        bool option = at_option(argc, argv, &i, &options);
        if (i == argc || (option && diagnostics_option(argv[i], &o->messages, &status)))
            continue;
        if (!option && o->file)
            return usage_error("dpc build takes one file, but %s is another", argv[i]);
        if (!option)
            o->file = argv[i];
        else if (strcmp(argv[i], "-o") != 0)
            return usage_error("dpc build has no option %s", argv[i]);
        else if (o->output)
            return usage_error("-o is given twice");
        else if (++i == argc)
            return usage_error("-o takes the name of a file");
        else
            o->output = argv[i];
    }
    if (status)
        return status;
    return o->file ? EXIT_OK : usage_error("dpc build takes the name of a .dp file");
}

/* The finished executable takes its place. */
static int install(Compilation *c, const char *program, const char *output)
{
    char part[1 << 14];
    DpOutput out;
    FILE *in = fopen(program, "rb");
    bool opened = in && dp_output_open(&out, output, 0777), ok = opened;
    for (size_t n; ok && (n = fread(part, 1, sizeof part, in)) > 0;)
        ok = fwrite(part, 1, n, out.file) == n;
    ok = ok && !ferror(in);
    if (opened && !ok)
        dp_output_discard(&out);
    ok = ok && dp_output_close(&out);
    int status = ok ? EXIT_OK : (int)dp_write_status();
    if (!ok)
        report_error(c->session, "%s: cannot write: %s", output, strerror(errno));
    if (in)
        fclose(in);
    return status;
}

static int build_in(Compilation *c, const TempFolder *folder, const char *output)
{
    char program[sizeof folder->path + 16];
    temp_folder_file(folder, "program", program, sizeof program);
    int status = toolchain_build(c, folder, program);
    return status ? status : install(c, program, output);
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
    else if (!compile_to(c, STAGE_FLAT) || replaces_source(c, o.output))
        status = EXIT_USAGE;
    else if (!temp_folder_create(&folder))
        status = temporary_failed(c);
    else {
        status = build_in(c, &folder, o.output);
        temp_folder_remove(&folder);
    }
    compilation_destroy(c);
    return status;
}

/* ---- dpc run, on a device: argv[0] is the .dp file, the rest belongs to the program ---- */

static int run_executable(Compilation *c, const char *program, int argc, char **argv)
{
    char **words = arena_array(c->session->arena, char *, argc + 1);
    words[0] = arena_printf(c->session->arena, "%s", program);
    for (int i = 1; i < argc; i++)
        words[i] = argv[i];
    int status = process_run(words, (ProcessOptions){0});
    if (status < 0)
        report_error(c->session, "cannot run %s: %s", words[0], strerror(errno));
    return status < 0 ? EXIT_USAGE : status;
}

/* Would a result replace one of the program's files? */
static bool outputs_are_free(Compilation *c, const ProgramOptions *o)
{
    return !(o->output && replaces_source(c, dp_file_path(o->output))) && !(o->times && replaces_source(c, o->times));
}

static int run_on_device(MessageOptions messages, const ProgramOptions *o, int argc, char **argv)
{
    Compilation *c = compilation_create(argv[0]);
    set_messages(c->session, messages);
    TempFolder folder;
    int status = EXIT_USAGE;
    if (!compile_to(c, STAGE_FLAT) || !outputs_are_free(c, o)) {
        status = EXIT_USAGE;
    } else if (!temp_folder_create(&folder)) {
        status = temporary_failed(c);
    } else {
        char program[sizeof folder.path + 16];
        temp_folder_file(&folder, "program", program, sizeof program);
        status = toolchain_build(c, &folder, program);
        if (status == EXIT_OK)
            status = run_executable(c, program, argc, argv);
        temp_folder_remove(&folder);
    }
    compilation_destroy(c);
    return status;
}

/* ---- dpc run --eval ---- */

static int print_entries(const Compilation *c)
{
    for (uint32_t i = 0; i < c->core->entries.n; i++)
        printf("entry %s\n", c->core->entries.at[i].signature);
    return EXIT_OK;
}

static int read_arguments(Compilation *c, const EntryTypes *t, const ProgramOptions *o, DpLeaf *leaves)
{
    DpParam *params = memory_alloc((size_t)t->entry->nparams + 1, sizeof *params);
    char error[512];
    for (uint32_t i = 0; i < t->entry->nparams; i++) {
        params[i] = (DpParam){t->entry->param_names[i], t->params[i], leaves, false};
        leaves += dp_type_leaves(t->params[i]);
    }
    bool ok = dp_read_args(o->nargs, o->args, params, t->entry->nparams, error, sizeof error);
    int status = ok ? EXIT_OK : (int)dp_read_status();
    if (!ok)
        report_error(c->session, "%s", error);
    free(params);
    return status;
}

static int write_result(Compilation *c, const EntryTypes *t, const ProgramOptions *o, const DpLeaf *result)
{
    char error[512];
    if (dp_write_file(o->output ? o->output : "-", t->result, result, error, sizeof error))
        return EXIT_OK;
    int status = (int)dp_write_status();
    report_error(c->session, "%s", error);
    return status;
}

static int eval_and_write(Compilation *c, const EntryTypes *t, const ProgramOptions *o, DpLeaf *args, DpLeaf *result)
{
    EvalError error;
    int read = read_arguments(c, t, o, args);
    if (read)
        return read;
    bool ok = entry_eval(c, t, args, result, &error);
    dp_leaves_free(args, entry_arg_leaves(t));
    if (!ok) {
        compilation_report(c, &error);
        return error.kind == EVAL_NO_MEMORY ? EXIT_MEMORY : error.kind == EVAL_NO_TIME ? EXIT_TIME : EXIT_PROGRAM;
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
    char error[512];
    if (o->output && !dp_output_format_known(o->output, t.result, error, sizeof error)) {
        report_error(c->session, "%s", error);
        entry_types_free(&t);
        return EXIT_USAGE;
    }
    DpLeaf *args = memory_alloc((size_t)entry_arg_leaves(&t) + 1, sizeof *args);
    DpLeaf *result = memory_alloc(dp_type_leaves(t.result), sizeof *result);
    int status = eval_and_write(c, &t, o, args, result);
    free(args);
    free(result);
    entry_types_free(&t);
    return status;
}

static int run_interpreted(Stage stage, MessageOptions messages, const ProgramOptions *o, const char *file)
{
    if (o->times)
        return usage_error("-t writes times on a device, and --eval=%s uses none", stage_name(stage));
    Compilation *c = compilation_create(file);
    set_messages(c->session, messages);
    c->limits = o->limits.eval;
    bool ready = compile_to(c, stage) && outputs_are_free(c, o);
    int status = !ready ? EXIT_USAGE : o->help ? print_entries(c) : run_entry(c, o);
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
    bool options = true;
    for (; at_option(argc, argv, &i, &options) && status == EXIT_OK; i++) {
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
    ProgramOptions o = {0};
    status = program_options_read(&o, argc - i - 1, argv + i + 1);
    if (status == EXIT_OK)
        status =
            stage ? run_interpreted(stage, messages, &o, argv[i]) : run_on_device(messages, &o, argc - i, argv + i);
    program_options_free(&o);
    return status;
}

/* ---- dpc check, dump, devices ---- */

int command_check(int argc, char **argv)
{
    MessageOptions messages = {0};
    int i = 0, status = EXIT_OK;
    bool options = true;
    for (; at_option(argc, argv, &i, &options); i++) {
        if (!diagnostics_option(argv[i], &messages, &status))
            return usage_error("dpc check has no option %s", argv[i]);
        if (status)
            return status;
    }
    if (i == argc)
        return usage_error("dpc check takes the names of .dp files");
    for (; i < argc; i++) {
        if (options && dp_arg_is_option(argv[i]))
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
    return ok ? EXIT_OK : EXIT_USAGE;
}

int command_dump(int argc, char **argv)
{
    Stage stage = STAGE_NONE;
    const char *file = NULL;
    MessageOptions messages = {0};
    int status = EXIT_OK;
    bool options = true;
    for (int i = 0; i < argc && status == EXIT_OK; i++) {
        bool option = at_option(argc, argv, &i, &options);
        if (i == argc || (option && diagnostics_option(argv[i], &messages, &status)))
            continue;
        const char *name = option ? option_value(argv[i], "--stage") : NULL;
        if (name)
            stage = stage_find(name);
        if (name && !stage)
            return usage_error("--stage takes ast, types, core, fused, flat, plan, opencl or host");
        if (!name && (option || file))
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
