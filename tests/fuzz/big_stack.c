#include "fuzz.h"

#include <pthread.h>

void fuzz_on_big_stack(void *(*f)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    FUZZ_CHECK(pthread_attr_init(&attributes) == 0, "no attributes");
    FUZZ_CHECK(pthread_attr_setstacksize(&attributes, (size_t)1 << 30) == 0, "no stack");
    FUZZ_CHECK(pthread_create(&thread, &attributes, f, argument) == 0, "no thread");
    pthread_attr_destroy(&attributes);
    pthread_join(thread, NULL);
}
