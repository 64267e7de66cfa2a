/* Calls of entries, and results that stay on the device. */
#include "dp_stack.h"
#include "dp_status.h"
#include "context.h"

#include <stdlib.h>
#include <string.h>

/* ---- what stays on the device ---- */
static void free_kept(DpcKept *k)
{
    free(k->results);
    free(k->numbers);
    free(k);
}

static void release_kept(DpRt *rt, DpcKept *k)
{
    for (uint32_t i = 0; i < k->n; i++) {
        if (k->numbers[i].bytes && !k->shown) /* not of scalars */
            dp_arr_release(rt, &k->results[i].arr);
        dp_col_release(rt, &k->numbers[i]);
    }
    free_kept(k);
}

/* Of values that were freed since. Only the thread that uses the context touches what the runtime counts. */
static void release_dropped(DpcContext *c)
{
    pthread_mutex_lock(&c->lock);
    DpcKept *k = c->dropped;
    c->dropped = NULL;
    pthread_mutex_unlock(&c->lock);
    for (DpcKept *next; k; k = next) {
        next = k->next;
        release_kept(c->rt, k);
    }
}

void dpc_context_leave(DpcContext *c)
{
    pthread_mutex_lock(&c->lock);
    const bool last = --c->users == 0;
    pthread_mutex_unlock(&c->lock);
    if (!last)
        return;
    release_dropped(c);
    dp_rt_close(c->rt);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->changed);
    free(c);
}

void dpc_kept_drop(DpcKept *k)
{
    DpcContext *home = k->home;
    if (!dpc_context_is_ours(home)) {
        free_kept(k); /* what it has on the host */
        return;
    }
    pthread_mutex_lock(&home->lock);
    k->next = home->dropped;
    home->dropped = k;
    pthread_mutex_unlock(&home->lock);
    dpc_context_leave(home);
}

struct _cl_mem *dpc_kept_buffer(const DpcKept *k)
{
    if (!dpc_context_is_ours(k->home))
        return NULL;
    dpc_tasks_settle(k->home);
    return dp_heap_object(k->home->rt);
}

static DpcKept *new_kept(DpcContext *home, uint32_t n)
{
    DpcKept *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    *k = (DpcKept){.home = home, .n = n};
    k->results = calloc((size_t)n + 1, sizeof *k->results);
    k->numbers = calloc((size_t)n + 1, sizeof *k->numbers);
    if (k->results && k->numbers) {
        pthread_mutex_lock(&home->lock);
        home->users++;
        pthread_mutex_unlock(&home->lock);
        return k;
    }
    free_kept(k);
    return NULL;
}

/* ---- calls ---- */
typedef struct Call {
    DpcContext *context;
    const DpEntry *entry;
    const DpcValue *const *given;
    DpArg *args, *results;
    DpcValue *value;
    DpcKept *shown; /* for what the host can read where it is; or NULL: everything is copied */
} Call;

static const DpEntry *find_entry(const DpcProgram *p, const char *name, DpcError *error)
{
    for (uint32_t i = 0; name && i < p->made->nentries; i++)
        if (strcmp(p->made->entries[i].name, name) == 0)
            return &p->made->entries[i];
    dpc_fail(error, EXIT_USAGE, "there is no entry %s", name ? name : "NULL");
    return NULL;
}

static bool args_are_right(const Call *call, unsigned count, DpcError *error)
{
    const DpEntry *e = call->entry;
    if (count != e->nparams) {
        dpc_fail(error, EXIT_USAGE, "%s takes %u arguments, not %u: %s", e->name, e->nparams, count, e->signature);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const DpcValue *v = call->given ? call->given[i] : NULL;
        if (!v || !dpc_value_is(v, e->param_types[i])) {
            dpc_fail(error, EXIT_USAGE, "argument %s of %s: %s is wanted, not %s", e->param_names[i], e->name,
                     e->param_types[i], v ? v->text : "NULL");
            return false;
        }
        if (v->kept && !v->kept->shown && v->kept->home != call->context) {
            dpc_fail(error, EXIT_USAGE, "argument %s of %s: it stays on the device of another context",
                     e->param_names[i], e->name);
            return false;
        }
    }
    return true;
}

static DpArg lend(DpRt *rt, const DpcValue *v, uint32_t index)
{
    const DpLeaf *leaf = &v->leaves[index];
    if (!leaf->rank)
        return (DpArg){.bits = dp_scalar_load(leaf->scalar, leaf->data, 0)};
    if (v->kept && !v->kept->shown)
        return (DpArg){.arr = dp_arr_retain(v->kept->results[index].arr)};
    return (DpArg){.arr = dp_lend(rt, leaf, v->outside ? &v->outside[index] : NULL)};
}

static void lend_args(Call *call)
{
    DpArg *to = call->args;
    for (uint32_t i = 0; i < call->entry->nparams; i++)
        for (uint32_t k = 0; k < call->given[i]->n; k++)
            *to++ = lend(call->context->rt, call->given[i], k);
}

/* Its results are layed out where they stay. */
static void keep_results(Call *call)
{
    DpcKept *kept = call->value->kept;
    for (uint32_t i = 0; i < kept->n; i++) {
        DpLeaf *leaf = &call->value->leaves[i];
        kept->results[i] = call->results[i];
        if (leaf->rank)
            kept->numbers[i] = dp_lay_out(call->context->rt, &kept->results[i].arr, leaf);
        if (leaf->rank && !kept->numbers[i].bytes)
            dp_arr_release(call->context->rt, &kept->results[i].arr);
        if (leaf->rank || !(leaf->data = malloc(sizeof(uint64_t))))
            continue;
        dp_scalar_store(leaf->scalar, leaf->data, 0, call->results[i].bits);
        leaf->ndata = 1;
    }
    dp_check(call->context->rt);
}

/* To the host, but for what it can read where it is: that is held. */
static void show_results(Call *call)
{
    DpRt *rt = call->context->rt;
    DpLeaf *leaves = call->value->leaves;
    DpcKept *shown = call->value->kept = call->shown;
    bool some = false;
    call->shown = NULL;
    for (uint32_t i = 0; i < shown->n; i++)
        if (leaves[i].rank)
            shown->numbers[i] = dp_lay_out(rt, &call->results[i].arr, &leaves[i]);
        else
            dp_scalar_result(rt, call->results[i].bits, &leaves[i]);
    dp_release_results(rt, call->entry, leaves, call->results);
    for (uint32_t i = 0; i < shown->n; i++) {
        DpCol *numbers = &shown->numbers[i];
        if (!leaves[i].rank)
            continue;
        leaves[i].data = dp_show(rt, numbers);
        some = some || leaves[i].data;
        if (leaves[i].data)
            continue;
        dp_fetch(rt, numbers, &leaves[i]);
        dp_col_release(rt, numbers);
    }
    if (some)
        return;
    call->value->kept = NULL;
    call->shown = shown;
}

static void run_call(void *data)
{
    Call *call = data;
    DpRt *rt = call->context->rt;
    DpLeaf *leaves = call->value->leaves;
    release_dropped(call->context);
    do {
        lend_args(call);
        dp_run(rt, call->entry, call->args, call->results);
        dp_own_results(rt, call->entry, leaves, call->results);
        if (dp_failed(rt))
            dp_release_results(rt, call->entry, leaves, call->results);
        dp_give_back(rt);
    } while (dp_failed(rt) && dp_grow_for_lent(rt));
    if (call->value->kept) {
        keep_results(call);
    } else if (call->shown) {
        show_results(call);
    } else {
        dp_download_results(rt, call->entry, call->results, leaves);
        dp_release_results(rt, call->entry, leaves, call->results);
    }
}

static void guard_call(void *data, uintptr_t stack_end)
{
    Call *call = data;
    dp_set_stack(call->context->rt, stack_end);
    const struct DpcProgram *p = call->context->program;
    if (p->guard)
        call->context->lost = !p->guard(run_call, call);
    else
        run_call(call);
}

/* How a call has ended; the runtime can be used again after failures of the program and of memory. */
static bool succeeded(DpcContext *context, DpcError *error)
{
    if (context->lost) {
        dpc_fail_memory(error);
        return false;
    }
    const DpFailure failure = dp_failure(context->rt);
    if (!failure.status)
        return true;
    dpc_fail(error, failure.status, "%s%s%s", failure.log ? failure.log : "", failure.log ? "\n" : "", failure.message);
    dp_clear_failure(context->rt);
    return false;
}

static bool has_arrays(const DpcValue *v)
{
    for (uint32_t i = 0; v && i < v->n; i++)
        if (v->leaves[i].rank)
            return true;
    return false;
}

/* Where its results go. */
static bool make_room(Call *call, bool keep)
{
    call->value = dpc_value_new(call->entry->result_type);
    call->args = calloc((size_t)call->entry->nargs + 1, sizeof *call->args);
    call->results = calloc((size_t)call->entry->nresults + 1, sizeof *call->results);
    if (call->value && keep)
        call->value->kept = new_kept(call->context, call->entry->nresults);
    const bool shows = !keep && dp_shows_heap(call->context->rt) && has_arrays(call->value);
    if (shows && (call->shown = new_kept(call->context, call->entry->nresults)))
        call->shown->shown = true;
    return call->value && call->args && call->results && (!keep || call->value->kept) && (!shows || call->shown);
}

static bool make_call(Call *call, unsigned count, bool keep, DpcError *error)
{
    DpcContext *c = call->context;
    if (c->lost)
        return succeeded(c, error);
    if (!args_are_right(call, count, error))
        return false;
    bool ran = make_room(call, keep);
    if (ran && c->program->recurses)
        ran = dp_stack_run(guard_call, call);
    else if (ran)
        guard_call(call, 0);
    if (!ran)
        dpc_fail_memory(error);
    return ran && succeeded(c, error);
}

DpcValue *dpc_call_entry(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count, bool keep,
                         DpcError *error)
{
    Call call = {.context = context, .given = args};
    call.entry = find_entry(context->program, entry, error);
    if (!call.entry || !make_call(&call, count, keep, error)) {
        dpc_value_free(call.value);
        call.value = NULL;
    }
    if (call.shown) /* it has not come to that */
        dpc_kept_drop(call.shown);
    free(call.args);
    free(call.results);
    return call.value;
}

static DpcValue *call_now(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count,
                          bool keep, DpcError *error)
{
    if (!dpc_context_serves(context, error))
        return NULL;
    dpc_tasks_settle(context);
    return dpc_call_entry(context, entry, args, count, keep, error);
}

DpcValue *dpc_call(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count, DpcError *error)
{
    return call_now(context, entry, args, count, false, error);
}

DpcValue *dpc_call_device(DpcContext *context, const char *entry, const DpcValue *const *args, unsigned count,
                          DpcError *error)
{
    return call_now(context, entry, args, count, true, error);
}

/* ---- what stays, elsewhere ---- */
static bool stays(const DpcValue *v, DpcError *error)
{
    const bool is = v && v->kept && !v->kept->shown;
    if (!is)
        dpc_fail(error, EXIT_USAGE, "the value does not stay on a device");
    else if (dpc_context_serves(v->kept->home, error))
        dpc_tasks_settle(v->kept->home);
    else
        return false;
    return is;
}

int dpc_fetch(DpcValue *value, DpcError *error)
{
    if (!stays(value, error))
        return 0;
    DpRt *rt = value->kept->home->rt;
    for (uint32_t i = 0; i < value->n; i++)
        if (value->leaves[i].rank && !value->leaves[i].data)
            dp_fetch(rt, &value->kept->numbers[i], &value->leaves[i]);
    return succeeded(value->kept->home, error);
}

int dpc_copy(const DpcValue *value, unsigned index, struct _cl_mem *buffer, uint64_t offset, DpcError *error)
{
    if (!stays(value, error))
        return 0;
    if (index >= value->n || !value->leaves[index].rank || !buffer) {
        dpc_fail(error, EXIT_USAGE, "leaf %u is no array, or the buffer NULL", index);
        return 0;
    }
    dp_copy_out(value->kept->home->rt, &value->kept->numbers[index], buffer, offset);
    return succeeded(value->kept->home, error);
}
