/* The core checker: each row breaks one promise of core.h in a good program, and the checker must name it. */
#include "core_builder.h"

#include "compile_text.h"

#define UNKNOWN 9999 /* a number that no function's variable and no site has */

static const char program[] =
    "def fib (x: i64) : i64 = if x < 2 then x else fib (x - 1) + fib (x - 2)\n"
    "entry keep (rows: [[i64]]) : [[i64]] = { { x + 1 : x in row | x > 2 } : row in rows }\n"
    "entry fibs (xs: [i64]) : [i64] = { fib xs[i] + i : i in length xs }\n"
    "entry sized (rows: [[4]i64]) : i64 = length rows\n"
    "entry order (xs: [i64]) : [i64] = { xs[i] : i in argsort xs }\n"
    "entry sorted (xs: [i64]) : [i64] = sort xs\n"
    "entry bins (xs: [i64]) : [i64] = histogram 10 xs\n"
    "entry put (xs: [i64]) (ys: [i64]) : [i64] = scatter xs ys { 1 : _ in ys }\n"
    "entry prefix (xs: [i64]) : [i64] = scan (+) 0 xs\n"
    "entry set (xs: [i64]) (n: i64) : [i64] = loop ys = xs for i < n do ys with [i] = i\n"
    "entry wait (xs: [i64]) : [i64] = loop ys = xs while length ys < 9 do ys ++ ys\n"
    "entry twins (xs: [i64]) : [[i64]] = { [x, x + 1] : x in xs }\n"
    "entry over (xs: [i64]) (k: i64) : i64 = reduce (\\a b -> max a (min b k)) (k + 1) xs\n"
    "entry part (rows: [[i64]]) (k: i64) : [[i64]] = { row[1:k] : row in rows }\n"
    "entry joined (rows: [[i64]]) (k: i32) : [i64] = flatten (if k > 0 then rows else [[i64 k / 3]])\n"
    "entry pick (xs: [i64]) (k: i64) : i64 = xs[k] + k % length xs\n"
    "entry clamped (b: bool) (x: f64) : f64 = (if b then x else 1.0) + sqrt x\n"
    "entry first (xs: [i64]) (k: i64) : i64 = assert (k > 2) xs[0]\n";

/* What a row spoils: a statement of a function. */
typedef struct Place {
    CoreProgram *p;
    CoreFn *fn;
    CoreStmt *s;
} Place;

static CoreAtom param(const Place *at, uint32_t i)
{
    CoreVar v = at->fn->params[i];
    return core_var_atom(v, core_var_type(at->fn, v));
}
static CoreType *type_of(const Place *at, CoreVar v) { return &at->fn->vars.at[v].type; }
static CoreSoac *soac(const Place *at) { return core_stmt_soac(at->s); }

static const CoreAtom a_bool = {true, {SC_BOOL, 0}, {.bits = 1}}, a_number = {true, {SC_I64, 0}, {.bits = 1}},
                      a_stranger = {false, {SC_I64, 0}, {.var = UNKNOWN}}, no_bool = {true, {SC_BOOL, 0}, {.bits = 2}},
                      no_u8 = {true, {SC_U8, 0}, {.bits = 256}}, no_i8 = {true, {SC_I8, 0}, {.bits = 128}},
                      a_sequence = {true, {SC_I64, 1}, {.bits = 0}}, no_type = {true, {SCALAR_COUNT, 0}, {.bits = 0}};

/* ---- what may be wrong ---- */

#define SPOIL(name, ...)                                                                                               \
    static void name(Place *at) { __VA_ARGS__; }

SPOIL(binds_nothing, at->s->nvars = 0)
SPOIL(binds_stranger, at->s->vars[0] = UNKNOWN)
SPOIL(binds_param, at->s->vars[0] = at->fn->params[0])
SPOIL(binds_indexed, at->s->vars[0] = find_kind(at->fn->body, CORE_INDEX, 0)->vars[0])
SPOIL(binds_bool, *type_of(at, at->s->vars[0]) = T_BOOL)
SPOIL(binds_array, *type_of(at, at->s->vars[0]) = T_SEQ)
SPOIL(site_stranger, at->s->site = UNKNOWN)
SPOIL(no_site, at->s->site = CORE_NO_SITE)

SPOIL(arg_stranger, at->s->prim.args[0] = a_stranger)
SPOIL(arg_later, at->s->prim.args[0] = core_var_atom(at->s->vars[0], T_I64))
SPOIL(arg_no_bool, at->s->prim.args[1] = no_bool)
SPOIL(arg_no_u8, at->s->prim.args[1] = no_u8)
SPOIL(arg_no_i8, at->s->prim.args[1] = no_i8)
SPOIL(arg_sequence, at->s->prim.args[1] = a_sequence)
SPOIL(arg_no_type, at->s->prim.args[1] = no_type)
SPOIL(arg_array, at->s->prim.args[0] = param(at, 0))
SPOIL(arg_bool, at->s->prim.args[0] = a_bool)
SPOIL(args_too_few, at->s->prim.nargs = 1)
SPOIL(prim_none, at->s->prim.op = PRIM_COUNT)
SPOIL(prim_float, at->s->prim.op = PRIM_HYPOT)
SPOIL(prim_not, at->s->prim.op = PRIM_NOT)
SPOIL(prim_bits, at->s->prim.op = PRIM_COMPLEMENT)
SPOIL(prim_logic, at->s->prim.op = PRIM_XOR)
SPOIL(prim_size, at->s->prim.op = PRIM_SIZE_ADD)
SPOIL(select_number, at->s->prim.args[0] = a_number)
SPOIL(select_first, at->s->prim.args[1] = a_bool)
SPOIL(select_second, at->s->prim.args[2] = a_bool)
SPOIL(copies_bool, at->s->kind = CORE_ATOM; at->s->atom = a_bool)

SPOIL(length_of_number, at->s->length.array = a_number)
SPOIL(array_is_number, at->s->index.array = param(at, 1))
SPOIL(index_bool, at->s->index.index = a_bool)
SPOIL(slice_number, at->s->slice.array = a_number)
SPOIL(slice_from_bool, at->s->slice.from = a_bool)
SPOIL(slice_to_bool, at->s->slice.to = a_bool)
SPOIL(update_number, at->s->update.array = a_number)
SPOIL(update_at_bool, at->s->update.index = a_bool)
SPOIL(update_with_bool, at->s->update.value = a_bool)
SPOIL(item_bool, at->s->array.items[0] = a_bool)
SPOIL(flattens_row, at->s->kind = CORE_FLATTEN; at->s->length.array = param(at, 0))
SPOIL(no_keys, at->s->argsort.nkeys = 0)
SPOIL(key_number, at->s->argsort.keys[0] = a_number)
SPOIL(no_columns, at->s->nvars = 3)
SPOIL(column_number, at->s->argsort.columns[0] = a_number)
SPOIL(key_rows, *type_of(at, at->fn->params[0]) = T_SEQ2)
SPOIL(rows_alone, at->s->rows.nargs = 1)
SPOIL(rows_pair, at->s->rows.nargs = 3)
SPOIL(rows_number, at->s->rows.args[0] = a_number)
SPOIL(rows_deep, at->s->rows.depth = 2)
SPOIL(rows_size_bool, at->s->rows.args[1] = a_bool)
SPOIL(rows_tag, CoreAtom *args = arena_array(at->p->arena, CoreAtom, 4); args[0] = at->s->rows.args[0];
      args[1] = args[2] = args[3] = a_number; at->s->rows.args = args; at->s->rows.nargs = 4)
SPOIL(check_binds, at->s->nvars = 1; at->s->vars = at->fn->params)
SPOIL(checks_number, at->s->check.cond = a_number)
SPOIL(check_four, at->s->check.nvalues = 4)
SPOIL(check_says_bool, at->s->check.nvalues = 1; at->s->check.values[0] = a_bool)

SPOIL(if_number, at->s->if_.cond = a_number)
SPOIL(no_then, at->s->if_.then_b = NULL)
SPOIL(then_nothing, at->s->if_.then_b->nresults = 0)
SPOIL(then_bool, at->s->if_.then_b->results[0] = a_bool)
SPOIL(then_else, at->s->if_.then_b->results[0] = at->s->if_.else_b->results[0])
SPOIL(loop_from_bool, at->s->loop.inits[0] = a_bool)
SPOIL(loop_counts_bool, at->s->loop.count = a_bool)
SPOIL(loop_index_bool, *type_of(at, at->s->loop.index) = T_BOOL)
SPOIL(loop_gives_bool, at->s->loop.body->results[0] = a_bool)
SPOIL(while_index, at->s->loop.index = at->s->loop.params[0])
SPOIL(while_number, at->s->loop.cond->results[0] = a_number)

SPOIL(calls_nothing, at->s->call.fn = NULL)
SPOIL(calls_copy, CoreFn *copy = arena_new(at->p->arena, CoreFn); *copy = *at->s->call.fn; at->s->call.fn = copy)
SPOIL(calls_outside, calls_copy(at); at->s->call.fn->index = UNKNOWN)
SPOIL(call_without, at->s->call.nargs = 0)
SPOIL(call_gives_two, at->s->nvars = 2)
SPOIL(call_on_bool, at->s->call.args[0] = a_bool)

SPOIL(domain_bool, soac(at)->domain = a_bool)
SPOIL(input_number, soac(at)->inputs[0] = a_number)
SPOIL(element_bool, *type_of(at, soac(at)->elements[0]) = T_BOOL)
SPOIL(element_stranger, soac(at)->elements[0] = UNKNOWN)
SPOIL(position_bool, *type_of(at, soac(at)->index) = T_BOOL)
SPOIL(guard_number, soac(at)->guard->results[0] = a_number)
SPOIL(guarded, soac(at)->guard = core_new_block(at->p))
SPOIL(body_bool, soac(at)->body->results[0] = a_bool)
SPOIL(no_body, soac(at)->body = NULL)
SPOIL(operator_unary, at->s->soac.op.nparams = 1)
SPOIL(operator_bool, at->s->soac.op.body->results[0] = a_bool)
SPOIL(operand_bool, *type_of(at, at->s->soac.op.params[1]) = T_BOOL)
SPOIL(neutral_bool, at->s->soac.neutral[0] = a_bool)
SPOIL(dest_number, at->s->soac.dests[0] = a_number)
SPOIL(dest_rows, *type_of(at, at->s->soac.dests[0].var) = T_SEQ2)
SPOIL(size_bool, at->s->soac.size = a_bool)

SPOIL(fn_misplaced, at->fn->index++)
SPOIL(fn_gives_nothing, at->fn->body->nresults = 0)
SPOIL(fn_gives_bool, at->fn->body->results[0] = a_bool)
SPOIL(fn_takes_twice, at->fn->params[1] = at->fn->params[0])

static CoreEntry *entry(const Place *at)
{
    for (uint32_t i = 0; i < at->p->entries.n; i++)
        if (at->p->entries.at[i].fn == at->fn)
            return &at->p->entries.at[i];
    fail_msg("%s is no entry", at->fn->name);
    return NULL;
}
SPOIL(entry_copy, CoreFn *copy = arena_new(at->p->arena, CoreFn); *copy = *at->fn; entry(at)->fn = copy)
SPOIL(entry_outside, CoreEntry *e = entry(at); entry_copy(at); e->fn->index = UNKNOWN)
SPOIL(entry_without, entry(at)->nparams = 1)
SPOIL(entry_swapped, entry(at)->param_types[1] = entry(at)->param_types[0])
SPOIL(entry_gives_array, entry(at)->result_type = entry(at)->param_types[0])

typedef struct Row {
    const char *fn;
    CoreKind kind;
    uint32_t nth;
    void (*spoil)(Place *at);
    const char *expected;
} Row;

static void check_row(const Row *row)
{
    Session *session = session_create();
    Place at = {.p = compile_text(session, program)};
    for (uint32_t i = 0; i < at.p->fns.n; i++)
        if (strcmp(at.p->fns.at[i]->name, row->fn) == 0)
            at.fn = at.p->fns.at[i];
    assert_non_null(at.fn);
    at.s = find_kind(at.fn->body, row->kind, row->nth);
    assert_valid(at.p);
    row->spoil(&at);
    StrBuf why = {0};
    bool accepted = core_check(at.p, &why);
    char begin[100];
    snprintf(begin, sizeof begin, "core_check: function %s: ", row->fn);
    if (accepted || strncmp(why.text, begin, strlen(begin)) != 0 || !strstr(why.text, row->expected)) {
        print_error("expected of %s: %s\nfound: %s\n", row->fn, row->expected, accepted ? "nothing" : why.text);
        fail();
    }
    strbuf_free(&why);
    session_destroy(session);
}
#define CHECK_ROWS(rows)                                                                                               \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                                         \
    check_row(&(rows)[i])

static void test_scopes(void **state)
{
    (void)state;
    const Row rows[] = {
        {"pick", CORE_INDEX, 0, binds_stranger, "a variable's number is out of range"},
        {"pick", CORE_INDEX, 0, binds_param, "index's result is i64 of rank 1 instead of i64 of rank 0"},
        {"pick", CORE_LENGTH, 0, binds_indexed, "%2 is bound twice"},
        {"over", CORE_PRIM, 0, arg_stranger, "%9999 is used out of scope"},
        {"over", CORE_PRIM, 0, arg_later, "%2 is used out of scope"},
        {"fib", CORE_IF, 0, then_else, "%6 is used out of scope"},
        {"pick", CORE_PRIM, 0, fn_gives_nothing, "a function has 0 results instead of 1"},
        {"pick", CORE_PRIM, 0, fn_gives_bool, "a function is bool of rank 0 instead of i64 of rank 0"},
        {"pick", CORE_PRIM, 0, fn_takes_twice, "%0 is bound twice"},
        {"pick", CORE_PRIM, 0, fn_misplaced, "a function's index is wrong"},
        {"pick", CORE_INDEX, 0, site_stranger, "a site is out of range"},
        {"pick", CORE_PRIM, 0, entry_copy, "an entry outside the program"},
        {"pick", CORE_PRIM, 0, entry_outside, "an entry outside the program"},
        {"pick", CORE_PRIM, 0, entry_without, "an entry has the wrong arity"},
        {"pick", CORE_PRIM, 0, entry_swapped, "an entry's parameter is i64 of rank 0 instead of i64 of rank 1"},
        {"pick", CORE_PRIM, 0, entry_gives_array, "an entry's result is i64 of rank 0 instead of i64 of rank 1"},
    };
    CHECK_ROWS(rows);
}

static void test_scalars(void **state)
{
    (void)state;
    const Row rows[] = {
        {"over", CORE_PRIM, 0, arg_no_bool, "a constant is not a scalar"},
        {"over", CORE_PRIM, 0, arg_no_u8, "a constant is not a scalar"},
        {"over", CORE_PRIM, 0, arg_no_i8, "a constant is not a scalar"},
        {"over", CORE_PRIM, 0, arg_sequence, "a constant is not a scalar"},
        {"over", CORE_PRIM, 0, arg_no_type, "a constant is not a scalar"},
        {"over", CORE_PRIM, 0, arg_array, "core_check: function over: add"},
        {"over", CORE_PRIM, 0, arg_bool, "core_check: function over: add"},
        {"over", CORE_PRIM, 0, args_too_few, "an operation has the wrong number of operands"},
        {"over", CORE_PRIM, 0, prim_none, "an operation has one result"},
        {"over", CORE_PRIM, 0, binds_nothing, "a statement binds one variable"},
        {"over", CORE_PRIM, 0, binds_array, "add is i64 of rank 1 instead of i64 of rank 0"},
        {"over", CORE_PRIM, 0, prim_float, "hypot"},
        {"clamped", CORE_PRIM, 2, prim_logic, "xor"},
        {"clamped", CORE_PRIM, 2, prim_size, "core_check: function clamped: "},
        {"clamped", CORE_PRIM, 1, prim_not, "core_check: function clamped: not"},
        {"clamped", CORE_PRIM, 1, prim_bits, "core_check: function clamped: "},
        {"clamped", CORE_PRIM, 0, select_number, "select's condition is i64"},
        {"clamped", CORE_PRIM, 0, select_first, "select's first choice is bool"},
        {"clamped", CORE_PRIM, 0, select_second, "select's second choice is bool"},
        {"joined", CORE_PRIM, 1, binds_array, "convert gives a scalar"},
        {"pick", CORE_PRIM, 0, no_site, "a division has no site"},
        {"over", CORE_PRIM, 0, copies_bool,
         "a copy is bool of rank 0 instead of i64 of rank 0\n  in the atom that binds"},
    };
    CHECK_ROWS(rows);
}

static void test_sequences(void **state)
{
    (void)state;
    const Row rows[] = {
        {"over", CORE_LENGTH, 0, length_of_number, "length of what is no sequence"},
        {"over", CORE_LENGTH, 0, binds_bool, "length's result is bool of rank 0 instead of i64 of rank 0"},
        {"pick", CORE_INDEX, 0, array_is_number, "index into what is no sequence"},
        {"pick", CORE_INDEX, 0, index_bool,
         "an index is bool of rank 0 instead of i64 of rank 0\n  in the index that binds %2"},
        {"part", CORE_SLICE, 0, slice_number, "slice of what is no sequence"},
        {"part", CORE_SLICE, 0, slice_from_bool, "a slice's start is bool"},
        {"part", CORE_SLICE, 0, slice_to_bool, "a slice's end is bool"},
        {"part", CORE_SLICE, 0, binds_bool, "slice's result is bool of rank 0 instead of i64 of rank 1"},
        {"set", CORE_UPDATE, 0, update_number, "update of what is no sequence"},
        {"set", CORE_UPDATE, 0, update_at_bool, "an index is bool"},
        {"set", CORE_UPDATE, 0, update_with_bool, "the updated element is bool"},
        {"set", CORE_UPDATE, 0, binds_bool, "update's result is"},
        {"twins", CORE_ARRAY, 0, binds_bool, "an array literal is no sequence"},
        {"twins", CORE_ARRAY, 0, item_bool, "an array literal's item is bool"},
        {"over", CORE_LENGTH, 0, flattens_row, "flatten needs rank 2 or more"},
        {"joined", CORE_FLATTEN, 0, length_of_number, "flatten of what is no sequence"},
        {"joined", CORE_FLATTEN, 0, binds_bool, "flatten's result is bool of rank 0 instead of i64 of rank 1"},
        {"order", CORE_ARGSORT, 0, no_keys, "argsort without keys"},
        {"order", CORE_ARGSORT, 0, key_number, "argsort of what is no sequence"},
        {"order", CORE_ARGSORT, 0, key_rows, "argsort's keys are scalars"},
        {"sorted", CORE_ARGSORT, 0, no_columns, "argsort binds its columns, and perhaps the positions"},
        {"sorted", CORE_ARGSORT, 0, column_number, "argsort of a column that is no sequence"},
        {"sorted", CORE_ARGSORT, 0, binds_bool, "a sorted column is bool"},
        {"order", CORE_ARGSORT, 0, binds_bool, "argsort's result is bool of rank 0 instead of i64 of rank 1"},
        {"first", CORE_CHECK, 0, check_binds, "a check binds nothing"},
        {"first", CORE_CHECK, 0, checks_number, "a check's condition is i64"},
        {"first", CORE_CHECK, 0, check_four, "a check has at most three values"},
        {"first", CORE_CHECK, 0, check_says_bool, "instead of i64 of rank 0\n  in a check"},
        {"sized", CORE_CHECK_ROWS, 0, rows_alone, "check_rows has the wrong number of operands"},
        {"sized", CORE_CHECK_ROWS, 0, rows_pair, "check_rows has the wrong number of operands"},
        {"sized", CORE_CHECK_ROWS, 0, rows_number, "check_rows of what is no sequence"},
        {"sized", CORE_CHECK_ROWS, 0, rows_deep, "check_rows goes too deep"},
        {"sized", CORE_CHECK_ROWS, 0, rows_size_bool, "check_rows' size is bool"},
        {"sized", CORE_CHECK_ROWS, 0, rows_tag, "check_rows' tag"},
        {"sized", CORE_CHECK_ROWS, 0, binds_bool, "check_rows' result is bool of rank 0 instead of i64 of rank 0"},
    };
    CHECK_ROWS(rows);
}

static void test_control(void **state)
{
    (void)state;
    const Row rows[] = {
        {"fib", CORE_IF, 0, if_number, "an if's condition is i64"},
        {"fib", CORE_IF, 0, no_then, "a block is missing"},
        {"fib", CORE_IF, 0, then_nothing, "a then branch has 0 results instead of 1"},
        {"fib", CORE_IF, 0, then_bool, "a then branch is bool"},
        {"set", CORE_LOOP, 0, binds_nothing, "as many results as parameters"},
        {"set", CORE_LOOP, 0, binds_bool, "a loop's result is bool"},
        {"set", CORE_LOOP, 0, loop_from_bool, "a loop's initial value is bool"},
        {"set", CORE_LOOP, 0, loop_counts_bool, "a loop's count is bool"},
        {"set", CORE_LOOP, 0, loop_index_bool, "a loop's index is bool"},
        {"set", CORE_LOOP, 0, loop_gives_bool, "a loop body is bool"},
        {"wait", CORE_LOOP, 0, while_index, "a while loop has no index"},
        {"wait", CORE_LOOP, 0, while_number, "a while condition is i64"},
        {"fib", CORE_CALL, 0, calls_nothing, "a call of a function outside the program"},
        {"fib", CORE_CALL, 0, calls_copy, "a call of a function outside the program"},
        {"fib", CORE_CALL, 0, calls_outside, "a call of a function outside the program"},
        {"fib", CORE_CALL, 0, call_without, "a call has the wrong arity"},
        {"fib", CORE_CALL, 0, call_gives_two, "a call has the wrong arity"},
        {"fib", CORE_CALL, 0, call_on_bool, "an argument is bool"},
        {"fib", CORE_CALL, 0, binds_bool, "a call's result is bool"},
    };
    CHECK_ROWS(rows);
}

static void test_parallel(void **state)
{
    (void)state;
    const Row rows[] = {
        {"keep", CORE_MAP, 1, domain_bool, "a domain is bool"},
        {"keep", CORE_MAP, 1, input_number, "an input is no sequence"},
        {"keep", CORE_MAP, 1, element_bool, "an element is bool"},
        {"keep", CORE_MAP, 1, element_stranger, "a variable's number is out of range"},
        {"keep", CORE_MAP, 1, guard_number, "a guard is i64"},
        {"keep", CORE_MAP, 1, body_bool, "a body is bool"},
        {"keep", CORE_MAP, 1, no_body, "a block is missing"},
        {"keep", CORE_MAP, 1, binds_bool, "a sequence operation gives a scalar"},
        {"fibs", CORE_MAP, 0, position_bool, "a position is bool"},
        {"over", CORE_REDUCE, 0, guarded, "only map may have a guard"},
        {"over", CORE_REDUCE, 0, body_bool, "a body is bool"},
        {"over", CORE_REDUCE, 0, operator_unary, "an operator has the wrong number of parameters"},
        {"over", CORE_REDUCE, 0, operator_bool, "an operator is bool"},
        {"over", CORE_REDUCE, 0, operand_bool, "an operator's parameter is bool"},
        {"over", CORE_REDUCE, 0, neutral_bool, "a neutral element is bool"},
        {"prefix", CORE_SCAN, 0, binds_bool, "a sequence operation gives a scalar"},
        {"put", CORE_SCATTER, 0, binds_bool, "a sequence operation gives a scalar"},
        {"put", CORE_SCATTER, 0, guarded, "only map may have a guard"},
        {"put", CORE_SCATTER, 0, dest_number, "a destination is no sequence"},
        {"put", CORE_SCATTER, 0, dest_rows, "a destination is i64 of rank 2 instead of i64 of rank 1"},
        {"put", CORE_SCATTER, 0, body_bool, "a body is bool"},
        {"bins", CORE_HIST, 0, binds_bool, "a sequence operation gives a scalar"},
        {"bins", CORE_HIST, 0, guarded, "only map may have a guard"},
        {"bins", CORE_HIST, 0, size_bool, "a histogram's size is bool"},
        {"bins", CORE_HIST, 0, body_bool, "a body is bool"},
    };
    CHECK_ROWS(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scopes),  cmocka_unit_test(test_scalars),  cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_control), cmocka_unit_test(test_parallel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
