/* The two dialects of scalar code; emit_scalar.h has the table of what they say. */
#include "opencl/emit_scalar.h"
#include "opencl/emit_text.h"

static CoreType element_type(const ScalarEmitter *e, CoreAtom array)
{
    return core_element(core_atom_type(e->fn, array));
}

/* ---- kernels ---- */

static void kernel_length(ScalarEmitter *e, CoreAtom array)
{
    strbuf_add(e->out, "DP_LEN(");
    emit_atom(e, array);
    strbuf_add(e->out, ")");
}

/* The address of element `index`. */
static void kernel_address(ScalarEmitter *e, CoreAtom array, CoreAtom index)
{
    strbuf_add(e->out, "DP_ADDR(");
    emit_atom(e, array);
    strbuf_add(e->out, ") + (dp_u64)");
    emit_atom(e, index);
    strbuf_printf(e->out, " * %u", emit_bytes(element_type(e, array)));
}

static void kernel_element(ScalarEmitter *e, CoreAtom array, CoreAtom index)
{
    strbuf_printf(e->out, "*DP_AT(%s, ", emit_value_type(e, element_type(e, array)));
    kernel_address(e, array, index);
    strbuf_add(e->out, ")");
}

/* The text "to - from", of type dp_u64. */
static void emit_slice_length(ScalarEmitter *e, const CoreStmt *s)
{
    strbuf_add(e->out, "(dp_u64)(");
    emit_atom(e, s->slice.to);
    strbuf_add(e->out, " - ");
    emit_atom(e, s->slice.from);
    strbuf_add(e->out, ")");
}

static void kernel_slice(ScalarEmitter *e, const CoreStmt *s)
{
    strbuf_add(e->out, "dp_make_view(");
    emit_slice_length(e, s);
    strbuf_add(e->out, ", ");
    kernel_address(e, s->slice.array, s->slice.from);
    strbuf_add(e->out, ")");
}

static void kernel_fail(ScalarEmitter *e, uint32_t site, const char *const values[3])
{
    strbuf_indent(e->out, 2 * e->depth);
    strbuf_printf(e->out, "dp_error(heap, %uU, %s, %s, %s);\n", site, values[0], values[1], values[2]);
    if (!e->has_flag)
        return;
    strbuf_indent(e->out, 2 * e->depth);
    strbuf_add(e->out, "failed = 1;\n");
}

const Dialect kernel_dialect = {"dp_view", false, kernel_length, kernel_element, kernel_slice, kernel_fail};

/* ---- the host ---- */

static void host_length(ScalarEmitter *e, CoreAtom array)
{
    emit_atom(e, array);
    strbuf_add(e->out, ".len");
}

static void host_element(ScalarEmitter *e, CoreAtom array, CoreAtom index)
{
    CoreType t = element_type(e, array);
    if (t.rank > 0)
        strbuf_add(e->out, "dp_read_view(rt, &");
    else
        strbuf_printf(e->out, "dp_from_bits_%s(dp_read_scalar(rt, &", scalar_name(t.scalar));
    emit_atom(e, array);
    strbuf_add(e->out, ", (dp_u64)");
    emit_atom(e, index);
    if (t.rank > 0)
        strbuf_add(e->out, ")");
    else
        strbuf_printf(e->out, ", %s))", emit_scalar_tag(t.scalar));
}

static void host_slice(ScalarEmitter *e, const CoreStmt *s)
{
    strbuf_add(e->out, "dp_arr_part(");
    emit_atom(e, s->slice.array);
    strbuf_add(e->out, ", ");
    emit_slice_length(e, s);
    strbuf_add(e->out, ", (dp_u64)");
    emit_atom(e, s->slice.from);
    strbuf_printf(e->out, " * %u)", emit_bytes(element_type(e, s->slice.array)));
}

static void host_fail(ScalarEmitter *e, uint32_t site, const char *const values[3])
{
    strbuf_indent(e->out, 2 * e->depth);
    strbuf_printf(e->out, "dp_fail(rt, %uU, %s, %s, %s);\n", site, values[0], values[1], values[2]);
}

const Dialect host_dialect = {"DpArr", true, host_length, host_element, host_slice, host_fail};
