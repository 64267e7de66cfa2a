/* Part of the runtime in builds with DPC_COVERAGE only, linked with --wrap=_exit: what ends at once, too, writes its
 * counts, and no call fails while they are written (tests/attack). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdnoreturn.h>

extern void __gcov_dump(void);
extern noreturn void __real__exit(int status);
noreturn void __wrap__exit(int status);

/* As a destructor it comes before gcov's, and before all that the modules register. */
__attribute__((destructor)) static void end_attack(void)
{
    void (*attack_end)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "attack_end");
    if (attack_end)
        attack_end();
}

noreturn void __wrap__exit(int status)
{
    end_attack();
    __gcov_dump();
    __real__exit(status);
}
