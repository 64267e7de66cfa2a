/* What the modules of fault injection share: which call is to fail, and the report of it.
 *
 * Each module is loaded before a program by LD_PRELOAD, stands in for some functions, counts their calls and lets one
 * of them fail. The environment says which:
 *   ATTACK_IN=NAME      only in the program of that file name: children such as the C compiler are left alone
 *   ATTACK_AT=K         the K-th call fails; without it, calls are only counted
 *   ATTACK_STICKY=1     all calls from the K-th on
 *   ATTACK_CALL=NAME    only calls of this function count
 *   ATTACK_NAMES=1      each call's name goes to the log
 *   ATTACK_LOG=FILE     gets the failed call's name, or, when the program ends, the number of calls: "calls N"
 * Only calls by the program's own code count: those of shared libraries, as PoCL's, succeed. Nothing is counted behind
 * the end of main: the counts of a coverage build are written then. */
#ifndef ATTACK_H
#define ATTACK_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct Attack {
    int calls, at;
    bool on, sticky, names;
    const char *log, *call;
    uintptr_t low, high; /* where the executable lies */
} attack;

#define CALLER __builtin_return_address(0)

/* By system calls: a module may stand in for the functions of C. */
static void attack_report(const char *line)
{
    long fd =
        attack.log ? syscall(SYS_openat, AT_FDCWD, attack.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    syscall(SYS_write, fd, line, strlen(line));
    syscall(SYS_write, fd, "\n", 1);
    syscall(SYS_close, fd);
}

/* Called by the program's own `_exit` in coverage builds, too. */
void attack_end(void)
{
    if (!attack.on)
        return;
    attack.on = false;
    char line[32] = "calls ", digits[16];
    size_t n = 0, at = strlen(line);
    for (int rest = attack.calls; rest || !n; rest /= 10)
        digits[n++] = (char)('0' + rest % 10);
    while (n)
        line[at++] = digits[--n];
    if (!attack.at)
        attack_report(line);
}

static int attack_find_executable(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + h->p_vaddr;
        if (h->p_type != PT_LOAD)
            continue;
        attack.low = attack.low && attack.low < from ? attack.low : from;
        attack.high = attack.high > from + h->p_memsz ? attack.high : from + h->p_memsz;
    }
    return 1; /* it is the first object */
}

__attribute__((constructor)) static void attack_begin(void)
{
    const char *only = getenv("ATTACK_IN"), *at = getenv("ATTACK_AT");
    if (only && strcmp(program_invocation_short_name, only) != 0)
        return;
    attack.at = at ? atoi(at) : 0;
    attack.sticky = getenv("ATTACK_STICKY") != NULL;
    attack.log = getenv("ATTACK_LOG");
    attack.call = getenv("ATTACK_CALL");
    attack.names = getenv("ATTACK_NAMES") != NULL;
    dl_iterate_phdr(attack_find_executable, NULL);
    attack.on = true;
    atexit(attack_end);
}

/* Counts a call from there; whether it has to fail. */
static bool attack_hits(const char *name, const void *caller)
{
    if (!attack.on || (uintptr_t)caller < attack.low || (uintptr_t)caller >= attack.high)
        return false;
    if (attack.call && strcmp(attack.call, name) != 0)
        return false;
    if (attack.names)
        attack_report(name);
    int k = __sync_add_and_fetch(&attack.calls, 1);
    if (attack.at && k == attack.at)
        attack_report(name);
    return attack.at && (k == attack.at || (attack.sticky && k > attack.at));
}

/* The function that NAME stands in for. */
#define ATTACK_REAL(name)                                                                                              \
    static __typeof__(&name) real;                                                                                     \
    if (!real)                                                                                                         \
    real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#endif
