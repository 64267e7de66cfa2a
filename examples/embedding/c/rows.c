/* A DP program in a C program: cc rows.c -ldpc (docs/embedding.md). */
#include <dpc.h>
#include <stdio.h>

static const char source[] = "entry main (m: [[f32]]) (k: f32) : [f32] = { sum { k * x : x in row } : row in m }\n";

int main(void)
{
    const float numbers[] = {1, 2, 3, 4, 5, 6}, k = 2;
    const uint64_t shape[] = {2, 3};
    DpcError error = {0};
    DpcProgram *program = dpc_compile("rows.dp", source, &error);
    DpcContext *context = program ? dpc_open(program, NULL, &error) : NULL;
    DpcValue *m = dpc_array("f32", numbers, 2, shape), *factor = dpc_scalar("f32", &k);
    DpcValue *sums = context ? dpc_call(context, "main", (const DpcValue *[]){m, factor}, 2, &error) : NULL;
    if (sums) {
        const DpcLeaf leaf = dpc_leaf(sums, 0);
        for (uint64_t i = 0; i < leaf.count; i++)
            printf("%g\n", ((const float *)leaf.data)[i]);
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    const int status = error.status;
    dpc_value_free(sums);
    dpc_value_free(factor);
    dpc_value_free(m);
    dpc_close(context);
    dpc_program_free(program);
    dpc_error_clear(&error);
    return status;
}
