/* The tables of options: what they say is clear in every scope; and how they are parsed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "commands/options.h"

#include <string.h>

static void check_scope(unsigned scope)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        for (int j = 0; j < i; j++) {
            const DpOption *a = &option_table[i], *b = &option_table[j];
            if (!(a->scope & scope) || !(b->scope & scope))
                continue;
            assert_string_not_equal(a->name, b->name);
            assert_false(a->letter && a->letter == b->letter);
        }
}

static void test_names_are_clear(void **state)
{
    (void)state;
    check_scope(DP_IN_PROGRAM);
    for (CommandId c = 0; c < COMMAND_COUNT; c++) {
        check_scope(command_scope(c));
        assert_int_equal(command_find(command_table[c].name), c);
        assert_true(command_table[c].least <= command_table[c].most);
    }
    assert_int_equal(command_find("none"), COMMAND_COUNT);
    for (int i = 0; i < OPTION_COUNT; i++)
        assert_true(strlen(option_table[i].help) > 0 && !strpbrk(option_table[i].help, "`\"\\"));
    for (int i = 0; i < DP_OPTIONS; i++) /* dpc's table begins with that of executables */
        assert_string_equal(option_table[i].name, dp_program_options[i].name);
}

enum { ERROR_BYTES = 200, MOST_WORDS = 16 };

typedef struct Parsed {
    const char *values[DP_OPTIONS];
    char *words[MOST_WORDS + 1];
    int n; /* words, or -1 */
    char error[ERROR_BYTES];
} Parsed;

/* Of a program's options; the words end with NULL. */
static Parsed parse(char *const *words)
{
    Parsed p = {.words = {(char[]){"f"}}};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        p.words[argc] = words[argc - 1];
    p.n = dp_options_parse(dp_program_options, DP_OPTIONS, DP_IN_PROGRAM, argc, p.words, p.values, p.error,
                           sizeof p.error);
    return p;
}
#define PARSE(...) parse((char *const[]){__VA_ARGS__, NULL})

static void test_words_and_options(void **state)
{
    (void)state;
    Parsed p = PARSE("1", "-r2", "--entry", "at", "-3", "-", "--out=x", "--", "-r");
    assert_int_equal(p.n, 4);
    assert_string_equal(p.words[1], "1");
    assert_string_equal(p.words[2], "-3");
    assert_string_equal(p.words[3], "-");
    assert_string_equal(p.words[4], "-r");
    assert_string_equal(p.values[DP_OPTION_RUNS], "2");
    assert_string_equal(p.values[DP_OPTION_ENTRY], "at");
    assert_string_equal(p.values[DP_OPTION_OUTPUT], "x");
    assert_null(p.values[DP_OPTION_HELP]);
    p = PARSE("--profile", "json"); /* its value stands behind a = */
    assert_int_equal(p.n, 1);
    assert_string_equal(p.values[DP_OPTION_PROFILE], "");
    p = PARSE("-hr3", "--help");
    assert_int_equal(p.n, 0);
    assert_string_equal(p.values[DP_OPTION_HELP], "");
    assert_string_equal(p.values[DP_OPTION_RUNS], "3");
}

static void test_mistakes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"--enrty=at", "there is no option --enrty; did you mean --entry?"},
        {"--nothing-such", "there is no option --nothing-such"},
        {"--ti=1", "there is no option --ti; did you mean --times?"},
        {"-x", "there is no option -x"},
        {"-o", "-o takes a value, FILE"},
        {"--entry", "--entry takes a value, NAME"},
        {"--entry=", "--entry takes a value, NAME"},
        {"--help=yes", "--help takes no value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char word[64];
        snprintf(word, sizeof word, "%s", cases[i][0]);
        Parsed p = PARSE(word);
        assert_int_equal(p.n, -1);
        assert_string_equal(p.error, cases[i][1]);
    }
    Parsed p = PARSE("-o", "a", "--output=b");
    assert_int_equal(p.n, -1);
    assert_string_equal(p.error, "--output is given twice");
}

static void test_limits(void **state)
{
    (void)state;
    double seconds;
    uint64_t bytes;
    char error[ERROR_BYTES];
    assert_true(dp_parse_limits("0.5", "3M", &seconds, &bytes, error, sizeof error));
    assert_true(seconds == 0.5 && bytes == 3000000);
    assert_true(dp_parse_limits(NULL, NULL, &seconds, &bytes, error, sizeof error));
    assert_true(seconds == 0 && bytes == 0);
    assert_false(dp_parse_limits("", NULL, &seconds, &bytes, error, sizeof error));
    assert_string_equal(error, "--timeout takes a number of seconds, not ");
    assert_false(dp_parse_limits(NULL, "1Q", &seconds, &bytes, error, sizeof error));
    uint64_t n;
    assert_true(dp_parse_count("12", 12, &n) && n == 12);
    assert_false(dp_parse_count("13", 12, &n) || dp_parse_count("", 12, &n) || dp_parse_count("-1", 12, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_clear),
        cmocka_unit_test(test_words_and_options),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
