/* The runtime's messages, the limits of its heap and the files of its cache, without a device. */
#include "recording_device.h" /* first */

#include "../../runtime/internal.h"

#include "dp_limits.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- messages ---- */

static DpRt rt;
static Recorder device = {.device = {.backend = &recording_backend}}; /* with nothing behind it */
static unsigned char memory[DP_LOOK_BYTES];
static char last_message[1024];

static void begin(const DpProgram *program)
{
    rt = (DpRt){.program = program, .device = &device.device};
    rt.heap.buffer = (DpBuffer){memory, memory, sizeof memory};
}

#define FAILS(expected, call)                                                                                          \
    do {                                                                                                               \
        assert_false(dp_failed(&rt));                                                                                  \
        call;                                                                                                          \
        assert_true(dp_failed(&rt));                                                                                   \
        assert_int_equal(dp_failure(&rt).status, expected);                                                            \
        snprintf(last_message, sizeof last_message, "%s", dp_failure(&rt).message);                                    \
        rt.status = 0;                                                                                                 \
    } while (0)

/* A kernel has reported this site. */
static void report(uint32_t site, int64_t v0, int64_t v1, int64_t v2)
{
    rt.look[0] = (uint64_t)site << 32 | 1;
    rt.look[1] = (uint64_t)v0;
    rt.look[2] = (uint64_t)v1;
    rt.look[3] = (uint64_t)v2;
    dp_rt_report(&rt);
}

static void test_sites(void **state)
{
    (void)state;
    static const char *const texts[] = {"index -1 out of bounds for length 2",
                                        "slice -1:2 out of bounds for length 3",
                                        "unequal lengths: -1 and 2",
                                        "size mismatch: t is -1, but this length is 2",
                                        "division by zero",
                                        "assertion failed",
                                        "no case matches",
                                        "t of an empty sequence",
                                        "negative length -1",
                                        "lengths add up to -1, but the sequence has 2",
                                        "recursion too deep",
                                        "failure of kind 11"};
    enum { KINDS = sizeof texts / sizeof *texts };
    DpSite sites[KINDS];
    DpProgram program = {.version = DP_RT_VERSION, .file = "f.dp", .sites = sites, .nsites = KINDS};
    begin(&program);
    dp_rt_report(&rt); /* nothing */
    for (uint32_t i = 0; i < KINDS; i++) {
        char expected[200];
        sites[i] = (DpSite){.kind = (uint8_t)i, .text = "t", .file = i % 2 ? "g.dp" : NULL, .line = i + 1, .col = 7};
        snprintf(expected, sizeof expected, "%s:%u:7: error: %s", i % 2 ? "g.dp" : "f.dp", i + 1, texts[i]);
        FAILS(1, report(i, -1, 2, 3));
        assert_string_equal(last_message, expected);
        assert_int_equal(rt.look[0], 0);
    }
    FAILS(1, report(9, INT64_MAX, 2, 0));
    assert_string_equal(last_message,
                        "g.dp:10:7: error: lengths add up to 9223372036854775807 or more, but the sequence has 2");
    sites[7] = (DpSite){.kind = 7};
    program.file = NULL;
    FAILS(1, report(7, 0, 0, 0));
    assert_string_equal(last_message, ":0:0: error:  of an empty sequence");
    FAILS(4, report(KINDS, 0, 0, 0));
    assert_string_equal(last_message, "error: a kernel reported failure 12, which does not exist");
}

static void test_quotes(void **state)
{
    (void)state;
    char quote[1201];
    DpSite site = {.kind = 4, .file = "f.dp", .line = 1, .col = 3, .quote = "  a / b\n    ^"};
    const DpProgram program = {.version = DP_RT_VERSION, .sites = &site, .nsites = 1};
    begin(&program);
    FAILS(1, report(0, 0, 0, 0));
    assert_string_equal(last_message, "f.dp:1:3: error: division by zero\n  a / b\n    ^");
    memset(quote, 'x', sizeof quote - 1);
    quote[sizeof quote - 1] = '\0';
    site.quote = quote; /* does not fit */
    FAILS(1, report(0, 0, 0, 0));
    assert_int_equal(strlen(last_message), sizeof rt.message - 1);
}

static void test_places(void **state)
{
    (void)state;
    const DpSite site = {.file = "f.dp", .line = 2, .col = 3};
    const DpProgram program = {.version = DP_RT_VERSION, .file = "p.dp", .sites = &site, .nsites = 1};
    begin(&program);
    FAILS(3, dp_rt_fail_host_memory(&rt, 5000000));
    assert_string_equal(last_message, "p.dp: error: out of memory: 5.0 MB requested on the host");
    dp_at(&rt, 0);
    FAILS(3, dp_rt_fail_host_memory(&rt, DP_SIZE_MAX));
    assert_non_null(strstr(last_message, "f.dp:2:3: error: out of memory: more than "));
    dp_at(&rt, 1); /* no such site */
    FAILS(1, dp_rt_fail_here(&rt, 1, "what"));
    assert_string_equal(last_message, "p.dp: error: what");
    begin(NULL);
    dp_at(&rt, 0);
    FAILS(1, dp_rt_fail_here(&rt, 1, "what"));
    assert_string_equal(last_message, "error: what");
}

static void test_device_errors(void **state)
{
    (void)state;
    begin(NULL);
    FAILS(4, dp_rt_check_device(&rt, recorded(rt.device, DEVICE_FAILED, "tests")));
    assert_string_equal(last_message, "error: device error a failure in tests");
    recording = (struct Recording){.counting = true, .at = 1, .sticky = true};
    FAILS(4, dp_rt_look(&rt));
    assert_string_equal(last_message, "error: device error a failure in read");
    FAILS(4, dp_rt_write(&rt, 0, "", 1));
    assert_string_equal(last_message, "error: device error a failure in write");
    recording.counting = false;
    dp_check(&rt);
    assert_false(dp_failed(&rt));
}

/* The first failure stays. */
static void test_first_failure(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(dp_failure(&rt).status, 0);
    dp_rt_fail_here(&rt, 1, "first");
    dp_rt_fail_here(&rt, 3, "second");
    dp_rt_fail_host_memory(&rt, 8);
    dp_rt_fail_memory(&rt, 8);
    dp_rt_check_device(&rt, DEVICE_FAILED);
    dp_fail(&rt, 0, 0, 0, 0);
    assert_int_equal(dp_failure(&rt).status, 1);
    assert_string_equal(dp_failure(&rt).message, "error: first");
    recording = (struct Recording){.counting = true, .at = 1};
    assert_false(dp_clear_failure(&rt)); /* there is no device to go on with */
    recording.counting = false;
    assert_true(dp_clear_failure(&rt));
}

/* ---- when a loop stores its state anew ---- */

static void test_crowded(void **state)
{
    (void)state;
    begin(NULL);
    Heap *h = &rt.heap;
    DpLimit least = dp_limit(&rt);
    assert_false(dp_heap_pressure(&rt, &least));
    h->used = least.bytes + 1;
    assert_true(dp_heap_pressure(&rt, &least));
    DpLimit more = dp_limit(&rt);
    assert_true(more.bytes == 2 * h->used && more.blocks == least.blocks && !dp_heap_pressure(&rt, &more));
    h->live = least.blocks + 1;
    assert_true(dp_heap_pressure(&rt, &more));
    more = dp_limit(&rt);
    assert_true(more.blocks == 2 * h->live && !dp_heap_pressure(&rt, &more));
    h->always_compact = true;
    assert_true(dp_heap_pressure(&rt, &more));
}

/* ---- files of the cache ---- */

static char folder[64], file[160];
static const char *const texts[] = {"one", "two"};
static const unsigned char body[] = "twelve bytes";
enum { HEADER_BYTES = 48 };

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_failures.XXXXXX");
    assert_non_null(mkdtemp(folder));
    CacheKey key = dp_cache_key(texts, 2);
    snprintf(file, sizeof file, "%s/%016llx%016llx.bin", folder, (unsigned long long)key.a, (unsigned long long)key.b);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    dp_folder_remove(folder);
    assert_int_not_equal(access(folder, F_OK), 0);
    return 0;
}

static bool loads(void)
{
    size_t n = 0;
    unsigned char *bytes = dp_cache_load(folder, dp_cache_key(texts, 2), &n);
    if (bytes) {
        assert_int_equal(n, sizeof body);
        assert_memory_equal(bytes, body, n);
    }
    free(bytes);
    return bytes != NULL;
}

static void store(void) { dp_cache_store(folder, dp_cache_key(texts, 2), body, sizeof body); }

static void damage(long at)
{
    FILE *f = fopen(file, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    fputc('#', f);
    fclose(f);
}

static void test_cache_files(void **state)
{
    (void)state;
    CacheKey a = dp_cache_key(texts, 2), b = dp_cache_key(texts, 1);
    assert_true(a.a != b.a && a.b != b.b);
    assert_false(loads());
    store();
    assert_true(loads());
    for (long word = 0; word <= HEADER_BYTES / 8; word++) { /* each word of the header, then the body */
        damage(8 * word);
        assert_false(loads());
        store();
        assert_true(loads());
    }
    assert_int_equal(truncate(file, HEADER_BYTES + 3), 0);
    assert_false(loads());
    assert_int_equal(truncate(file, 10), 0);
    assert_false(loads());
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkdir(file, 0700), 0);
    assert_false(loads());
    store(); /* has no place, and leaves nothing behind */
    assert_int_equal(dp_cache_use(folder).entries, 1);
    assert_int_equal(rmdir(file), 0);
    store();
    if (geteuid() == 0) {
        assert_int_equal(chown(file, 65534, (gid_t)-1), 0);
        assert_false(loads());
    }
    dp_cache_store("/nowhere/at/all", a, body, sizeof body);
}

static void test_cache_full(void **state)
{
    (void)state;
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (rlim_t bytes = 0; bytes <= HEADER_BYTES; bytes += HEADER_BYTES) { /* no header, no body */
        limit = before;
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
        store();
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(dp_cache_use(folder).entries, 0);
    }
}

/* ---- its folder ---- */

static void expect_directory(const char *xdg, const char *home, const char *tmp, const char *expected)
{
    char wanted[400];
    snprintf(wanted, sizeof wanted, "%s%s", expected[0] == '/' ? "" : folder, expected);
    xdg ? setenv("XDG_CACHE_HOME", xdg, 1) : unsetenv("XDG_CACHE_HOME");
    home ? setenv("HOME", home, 1) : unsetenv("HOME");
    tmp ? setenv("TMPDIR", tmp, 1) : unsetenv("TMPDIR");
    char *path = dp_cache_directory();
    assert_non_null(path);
    assert_string_equal(path, wanted);
    free(path);
}

static void test_cache_folder(void **state)
{
    (void)state;
    char xdg[100], home[100], in_tmp[160], in_home[160], in_xdg[160], usual[64];
    snprintf(xdg, sizeof xdg, "%s/xdg", folder);
    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(in_xdg, sizeof in_xdg, "%s/dpc", xdg);
    snprintf(in_home, sizeof in_home, "%s/.cache/dpc", home);
    snprintf(in_tmp, sizeof in_tmp, "%s/dpc-%ld", folder, (long)geteuid());
    snprintf(usual, sizeof usual, "/tmp/dpc-%ld", (long)geteuid());
    assert_int_equal(mkdir(home, 0700), 0);
    expect_directory(xdg, home, folder, in_xdg);
    expect_directory("relative", home, folder, in_home);
    expect_directory(NULL, home, folder, in_home);
    expect_directory(NULL, NULL, folder, in_tmp);
    expect_directory(NULL, "relative", folder, in_tmp);
    assert_int_equal(chmod(in_xdg, 0750), 0); /* others may look into it */
    assert_int_equal(chmod(in_home, 0701), 0);
    expect_directory(xdg, home, folder, in_tmp);
    assert_int_equal(rmdir(in_xdg), 0);
    assert_int_equal(symlink(in_tmp, in_xdg), 0); /* a link */
    expect_directory(xdg, NULL, folder, in_tmp);
    if (geteuid() == 0) {
        assert_int_equal(chmod(in_home, 0700), 0);
        assert_int_equal(chown(in_home, 65534, (gid_t)-1), 0); /* somebody else's */
        expect_directory(NULL, home, folder, in_tmp);
    }
    assert_int_equal(chmod(in_tmp, 0777), 0);
    setenv("TMPDIR", folder, 1);
    unsetenv("HOME");
    assert_null(dp_cache_directory());
    if (access(usual, F_OK) == 0) {
        setenv("TMPDIR", "relative", 1);
        free(dp_cache_directory()); /* in /tmp, if it may be used */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_device_errors),
        cmocka_unit_test(test_first_failure),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test_setup_teardown(test_cache_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_cache_full, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_cache_folder, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
