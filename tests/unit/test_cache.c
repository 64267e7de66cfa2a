/* The folder of built kernels: where it is, what counts in it, and what goes first. */
#define _XOPEN_SOURCE 700 /* setreuid */
#include "../../runtime/cache.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_cache.XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    dp_folder_remove(folder);
    return chdir("/");
}

/* An empty file, last used so many seconds ago. */
static void make_file(const char *name, long age)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    const struct timespec times[] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    assert_true(fd >= 0);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void make_folder(const char *name) { assert_int_equal(mkdir(name, 0700), 0); }
static bool is_there(const char *name) { return access(name, F_OK) == 0; }

/* ---- the folder ---- */

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* wanted: within the test's folder; NULL: none. */
static void found(const char *xdg, const char *home, const char *tmp, const char *wanted)
{
    char path[128];
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    set("TMPDIR", tmp);
    char *directory = dp_cache_directory();
    snprintf(path, sizeof path, "%s/%s", folder, wanted ? wanted : "");
    if (wanted ? !directory || strcmp(directory, path) != 0 : directory != NULL)
        fail_msg("%s, wanted %s", directory ? directory : "none", wanted ? wanted : "none");
    free(directory);
}

static void test_places(void **state)
{
    (void)state;
    char own[64], x[80], there[80];
    bool before;
    snprintf(own, sizeof own, "dpc-%ld", (long)geteuid());
    snprintf(x, sizeof x, "%s/x", folder);
    found(x, folder, folder, "x/dpc");
    found("x", folder, folder, ".cache/dpc");
    found(NULL, folder, folder, ".cache/dpc");
    found(NULL, "relative", folder, own);
    found(NULL, NULL, folder, own);
    assert_int_equal(chmod("x/dpc", 0755), 0); /* open to others */
    found(x, folder, folder, ".cache/dpc");
    found(NULL, NULL, "/nowhere/at/all", NULL);
    snprintf(there, sizeof there, "/tmp/%s", own); /* where all else fails */
    before = is_there(there);
    for (int i = 0; i < 2; i++) {
        set("TMPDIR", i ? "relative" : NULL);
        char *directory = dp_cache_directory();
        assert_true(!directory || strcmp(directory, there) == 0);
        free(directory);
    }
    if (!before)
        rmdir(there);
    assert_int_equal(chmod("x/dpc", 0700), 0);
    if (geteuid() == 0) /* `access` asks for another user */
        assert_int_equal(setreuid(65534, (uid_t)-1), 0);
    else
        assert_int_equal(chmod("x/dpc", 0500), 0);
    found(x, NULL, "/nowhere/at/all", NULL);
    if (geteuid() == 0)
        assert_int_equal(setreuid(0, (uid_t)-1), 0);
}

/* ---- what is in it ---- */

static void test_no_folder(void **state)
{
    (void)state;
    assert_int_equal(dp_cache_use("nowhere").entries, 0);
    dp_cache_trim("nowhere");
    dp_cache_clear("nowhere");
    assert_false(is_there("nowhere"));
}

static void test_limit(void **state)
{
    (void)state;
    static const char *const none[] = {NULL, "", "x", "12x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        set("DP_CACHE_BYTES", none[i]);
        assert_int_equal(dp_cache_limit(), UINT64_C(1) << 30);
    }
    set("DP_CACHE_BYTES", "12");
    assert_int_equal(dp_cache_limit(), 12);
}

#define LONG_NAME                                                                                                      \
    "a_name_of_more_than_ninety_six_bytes_which_no_entry_has_as_their_names_are_numbers_in_hexadecimal_digits"

static void test_entries(void **state)
{
    (void)state;
    make_folder("c");
    make_file("c/a", 0); /* not an entry, nor are those with too long names */
    make_file("c/" LONG_NAME ".bin", 0);
    make_file("c/1.bin", 7200);
    make_file("c/2.bin.tmp", 7200);
    make_folder("c/pocl");
    make_file("c/pocl/tempfile", 7200);
    make_file("c/pocl/XY", 7200);
    make_folder("c/pocl/" LONG_NAME);
    make_folder("c/pocl/AB");
    make_folder("c/pocl/AB/program");
    make_file("c/pocl/AB/program/last_accessed", 7200);
    make_folder("c/pocl/AB/" LONG_NAME);
    assert_int_equal(dp_cache_use("c").entries, 5);
    set("DP_CACHE_BYTES", "1000000000");
    make_file("c/trimmed", 60); /* a moment ago */
    dp_cache_trim("c");
    assert_true(is_there("c/2.bin.tmp"));
    make_file("c/trimmed", -7200); /* a clock was wrong */
    dp_cache_trim("c");
    assert_false(is_there("c/2.bin.tmp") || is_there("c/pocl/tempfile") || is_there("c/pocl/XY"));
    assert_true(is_there("c/1.bin") && is_there("c/pocl/AB/program"));
    make_file("c/trimmed", 7200);
    set("DP_CACHE_BYTES", "0");
    dp_cache_trim("c");
    assert_int_equal(dp_cache_use("c").entries, 0);
    dp_folder_remove("c");
}

/* What cannot be removed is tried once. */
static void test_deep(void **state)
{
    (void)state;
    char path[200] = "c";
    make_folder(path);
    strcat(path, "/pocl");
    for (int i = 0; i < 14; i++) {
        make_folder(path);
        strcat(path, "/AB");
    }
    dp_cache_clear("c");
    assert_int_equal(dp_cache_use("c").entries, 1);
    dp_folder_remove("c/pocl/AB/AB/AB/AB/AB/AB/AB");
    dp_folder_remove("c");
    assert_false(is_there("c"));
}

/* More than are looked at in one go: the oldest of those go, down to half of them. */
static void test_many(void **state)
{
    (void)state;
    enum { MOST = 16384 };
    char name[64];
    make_folder("c");
    make_folder("c/pocl");
    make_folder("c/pocl/AB");
    make_folder("c/pocl/AB/one");
    make_folder("c/pocl/AB/two");
    for (int i = 1; i < MOST; i++) {
        snprintf(name, sizeof name, "c/%d.bin", i);
        make_file(name, 7200 + i);
    }
    assert_int_equal(dp_cache_use("c").entries, MOST);
    make_file("c/0.bin", 7200);
    assert_int_equal(dp_cache_use("c").entries, MOST);
    set("DP_CACHE_BYTES", "1000000000");
    dp_cache_trim("c");
    uint64_t left = dp_cache_use("c").entries;
    assert_true(left >= MOST / 2 && left <= MOST / 2 + 2);
    dp_cache_clear("c");
    assert_int_equal(dp_cache_use("c").entries, 0);
    dp_folder_remove("c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),  cmocka_unit_test(test_no_folder), cmocka_unit_test(test_limit),
        cmocka_unit_test(test_entries), cmocka_unit_test(test_deep),      cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
