/* Part of the runtime in builds with DPC_COVERAGE only, linked with --wrap=_exit: what ends at once, too, writes its
 * counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdnoreturn.h>

extern void __gcov_dump(void);
extern noreturn void __real__exit(int status);
noreturn void __wrap__exit(int status);

noreturn void __wrap__exit(int status)
{
    void (*attack_end)(void) =
        (void (*)(void))dlsym(RTLD_DEFAULT, "attack_end"); /* tests/attack: no call fails from here on */
    if (attack_end)
        attack_end();
    __gcov_dump();
    __real__exit(status);
}
