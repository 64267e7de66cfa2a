/* The functions that `dpc library` makes of forms.dp. */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static DpcError error;
static void expect(int holds, const char *what)
{
    if (holds)
        return;
    printf("FAILED: %s: %s\n", what, error.text ? error.text : "no error");
    exit(1);
}
#define EXPECT(x) expect((x), #x)

static void expect_text(const DpcValue *value, const char *wanted)
{
    char *text = dpc_text(value);
    EXPECT(text && strcmp(text, wanted) == 0);
    free(text);
}

static void regular(DpcContext *c)
{
    const float xs[] = {1, 2, 3};
    const double m[] = {1, 2, 3, 4, 5, 6};
    float sum = 0;
    forms_scaled_result r;
    EXPECT(forms_norm(c, xs, 3, &sum, &error) && sum == 14);
    EXPECT(forms_norm(c, NULL, 0, &sum, &error) && sum == 0);
    EXPECT(forms_scaled(c, m, 2, 3, 10, &r, &error) && r.length == 2 && r.length1 == 3 && r.data[5] == 60);
    forms_scaled_free(&r);
    EXPECT(forms_scaled(c, m, 0, 3, 10, &r, &error) && r.length == 0 && r.length1 == 0);
    forms_scaled_free(&r);
}

static void ragged(DpcContext *c)
{
    const int32_t numbers[] = {1, 2, 3, -4, 5, 6, 7, 8};
    const uint64_t offsets[] = {0, 3, 3, 5}, falling[] = {0, 3, 2, 5};
    forms_tails_result t;
    EXPECT(forms_tails(c, numbers, 3, offsets, &t, &error));
    EXPECT(t.length == 3 && t.offsets1[0] == 0 && t.offsets1[1] == 2 && t.offsets1[2] == 2 && t.offsets1[3] == 3);
    EXPECT(t.data[0] == 2 && t.data[1] == 3 && t.data[2] == 5);
    forms_tails_free(&t);
    EXPECT(!forms_tails(c, numbers, 3, falling, &t, &error) && error.status == 2 && !t.value);
    forms_cubes_result r;
    EXPECT(forms_cubes(c, numbers, 2, 2, 2, &r, &error) && r.length == 2);
    EXPECT(r.offsets1[2] == 4 && r.offsets2[1] == 2 && r.offsets2[2] == 3 && r.offsets2[4] == 7 && r.data[6] == 8);
    forms_cubes_free(&r);
}

static void parts(DpcContext *c)
{
    const float x[] = {1, 5, 3};
    const double mass[] = {10, 20, 30};
    forms_split_result r;
    EXPECT(forms_split(c, mass, x, 3, 2, 1, &r, &error));
    EXPECT(r.item0_length == 3 && r.item0[2] == 3 && r.item1_count == 2 && r.item1_heavy_length == 2);
    EXPECT(r.item1_heavy_x[0] == 5 && r.item1_heavy_mass[1] == 30);
    forms_split_free(&r);
}

static void rest(DpcContext *c)
{
    const int64_t xs[] = {7, 8};
    int64_t n = 0;
    DpcValue *known;
    EXPECT(forms_first(c, xs, 2, 1, &n, &error) && n == 8);
    EXPECT(!forms_first(c, xs, 2, 2, &n, &error) && error.status == 1);
    EXPECT(strstr(error.text, "forms.dp:17:") && strstr(error.text, "index 2 out of bounds for length 2"));
    EXPECT(forms_known(c, xs, 2, &known, &error));
    expect_text(known, "#some 7");
    EXPECT(forms_or_else(c, known, 3, &n, &error) && n == 7);
    dpc_value_free(known);
    EXPECT(forms_program_(c, 20000, &n, &error) && n == 20000);
}

int main(void)
{
    DpcContext *c = dpc_open(forms_program(), NULL, &error);
    EXPECT(c != NULL);
    EXPECT(dpc_entry_count(forms_program()) == 9);
    EXPECT(strcmp(dpc_entry(forms_program(), 1).sized_params[0], "[n][k]f64") == 0);
    regular(c);
    ragged(c);
    parts(c);
    rest(c);
    dpc_close(c);
    dpc_error_clear(&error);
    puts("all right");
    return 0;
}
