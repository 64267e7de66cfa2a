/* An entry's arguments: literals, files, standard input. See dp_args.h. */
#include "dp_activity.h"
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool dp_arg_is_file(const char *arg)
{
    static const char *const words[] = {"true", "false", "nan", "inf"};
    if (*arg && strchr("[({\"'#", *arg))
        return false;
    if (dp_place_of(arg, NULL).is_known || strchr(arg, '/'))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(arg, words[i]) == 0)
            return false;
    bool is_number = (*arg >= '0' && *arg <= '9') || (*arg == '-' && arg[1]);
    return !is_number && *arg != '\0' && *arg != ' ';
}

bool dp_arg_is_option(const char *arg)
{
    if (arg[0] != '-' || !arg[1] || strcmp(arg, "--") == 0)
        return false;
    bool is_number = arg[1] >= '0' && arg[1] <= '9';
    return !is_number && strcmp(arg, "-inf") != 0 && strcmp(arg, "-nan") != 0;
}

/* Standard input, read when it is first needed: values one after another, or all of it for one parameter. */
typedef struct Input {
    char *text;
    DpReader reader;
    const char *taken_by; /* the parameter that it was all for, or NULL */
} Input;

/* " (xs: [i32])" behind a message: what was wanted. */
static bool add_parameter(const DpParam *p, DpError e)
{
    char *type = dp_type_print(p->type, true);
    size_t n = strlen(e.text);
    if (type && n + 1 < e.bytes)
        snprintf(e.text + n, e.bytes - n, " (%s: %s)", p->name, type);
    free(type);
    return false;
}

/* A word that is no literal is a file: where there is none, a value may have been meant. */
static bool fail_no_file(const char *arg, const DpPlace *place, const DpParam *p, DpError e)
{
    bool is_name = place->is_known || strchr(arg, '/'), is_plain = strlen(arg) <= 40 && !strpbrk(arg, "\"\\'");
    add_parameter(p, e);
    size_t n = strlen(e.text);
    if (!is_name && dp_type_is_string(p->type) && n + 1 < e.bytes)
        snprintf(e.text + n, e.bytes - n, "; a text stands in quotes that the shell leaves: '\"%s\"'",
                 is_plain ? arg : "…");
    return false;
}

static bool slurp_input(Input *in, size_t *n, DpError e)
{
    if (!isatty(STDIN_FILENO)) /* GCOVR_EXCL_BR_LINE: in tests it is not being typed */
        dp_activity("reading standard input");
    in->text = dp_slurp("-", n);
    if (in->text)
        return true;
    return errno == ENOMEM ? dp_error_memory(e, "standard input") : dp_error(e, "standard input: %s", strerror(errno));
}

static bool fail_taken(const Input *in, const DpParam *p, DpError e)
{
    return dp_error(e, "standard input: the parameter %s needs it, but %s has read all of it", p->name,
                    in->taken_by ? in->taken_by : "another one");
}

/* All of standard input as one file. */
static bool read_whole_input(Input *in, const DpPlace *place, const DpParam *p, DpError e)
{
    size_t n;
    if (in->text)
        return fail_taken(in, p, e);
    in->taken_by = p->name;
    return slurp_input(in, &n, e) && dp_place_read(place, "standard input", in->text, n, p->type, p->leaves, e);
}

static bool read_from_input(Input *in, const DpParam *p, DpError e)
{
    size_t n;
    if (in->taken_by)
        return fail_taken(in, p, e);
    if (!in->text) {
        if (!slurp_input(in, &n, e))
            return false;
        in->reader = (DpReader){"standard input", in->text, n, 0};
        if (!dp_text_begin("standard input", in->text, n, &in->reader.at, e))
            return false;
    }
    if (dp_reader_done(&in->reader))
        return dp_error(e, "standard input: the value of the parameter %s is missing", p->name);
    if (dp_read_text(&in->reader, p->type, p->leaves, e.text, e.bytes))
        return true;
    return add_parameter(p, e);
}

static bool read_literal(const char *arg, const DpParam *p, DpError e)
{
    char where[64];
    snprintf(where, sizeof where, "argument %.40s", p->name);
    DpReader r = {where, arg, strlen(arg), 0};
    if (!dp_read_text(&r, p->type, p->leaves, e.text, e.bytes))
        return add_parameter(p, e);
    if (dp_reader_done(&r))
        return true;
    dp_leaves_free(p->leaves, dp_type_leaves(p->type));
    return dp_expected(&r, "one value, and nothing behind it", e);
}

static bool read_arg(const char *arg, Input *in, const DpParam *p, DpError e)
{
    DpPlace place = dp_place_of(arg, p->is_literal ? NULL : p->type);
    if (strcmp(place.path, "-") == 0)
        return dp_place_is_literals(&place) ? read_from_input(in, p, e) : read_whole_input(in, &place, p, e);
    if (dp_arg_is_file(arg)) {
        bool ok = dp_read_file(arg, p->type, p->leaves, e.text, e.bytes);
        int why = errno;
        if (!ok && access(place.path, F_OK) != 0 && errno == ENOENT)
            fail_no_file(arg, &place, p, e);
        errno = why;
        return ok;
    }
    return read_literal(arg, p, e);
}

static bool check_rest(Input *in, DpError e)
{
    if (!in->text || in->taken_by || dp_reader_done(&in->reader))
        return true;
    return dp_expected(&in->reader, "the end of the input", e);
}

/* One file of several arrays holds the arrays of all parameters: as the fields of a record of their names. */
static bool read_archive(const char *arg, const DpParam *params, uint32_t n, DpError e)
{
    DpType record = {
        .kind = DP_T_RECORD, .n = n, .names = calloc(n, sizeof(char *)), .items = calloc(n, sizeof(DpType *))};
    bool ok = record.names && record.items;
    for (uint32_t i = 0; ok && i < n; i++) {
        record.names[i] = (char *)(uintptr_t)params[i].name;
        record.items[i] = (DpType *)(uintptr_t)params[i].type;
    }
    DpLeaf *leaves = ok ? calloc(dp_type_leaves(&record), sizeof *leaves) : NULL;
    ok = leaves ? dp_read_file(arg, &record, leaves, e.text, e.bytes) : dp_error_memory(e, arg);
    const DpLeaf *from = leaves;
    for (uint32_t i = 0; ok && i < n; i++) {
        memcpy(params[i].leaves, from, dp_type_leaves(params[i].type) * sizeof *from);
        from += dp_type_leaves(params[i].type);
    }
    free(record.names);
    free(record.items);
    free(leaves);
    return ok;
}

static bool fail_too_many(uint32_t given, const DpParam *params, uint32_t nparams, DpError e)
{
    dp_error(e, "too many arguments: %u given, %u wanted%s", given, nparams, nparams ? ":" : "");
    for (uint32_t i = 0; i < nparams; i++)
        add_parameter(&params[i], e);
    return false;
}

bool dp_read_args(int argc, char *const *argv, const DpParam *params, uint32_t nparams, char *error, size_t error_bytes)
{
    DpError e = {error, error_bytes, stderr};
    Input in = {0};
    uint32_t nargs = argc > 0 ? (uint32_t)argc : 0, done = 0;
    DpReadFormat *format = nargs == 1 && nparams > 1 ? dp_place_of(argv[0], NULL).format->read : NULL;
    if (format == dp_read_npz || format == dp_read_hdf5)
        return read_archive(argv[0], params, nparams, e);
    bool ok = nargs <= nparams || fail_too_many(nargs, params, nparams, e);
    for (; ok && done < nparams; done++) {
        const DpParam *p = &params[done];
        dp_leaves_init(p->leaves, p->type);
        ok = read_arg(done < nargs ? argv[done] : "-", &in, p, e);
    }
    ok = ok && check_rest(&in, e);
    for (uint32_t i = 0; !ok && i < done; i++)
        dp_leaves_free(params[i].leaves, dp_type_leaves(params[i].type));
    free(in.text);
    dp_activity_end();
    return ok;
}
