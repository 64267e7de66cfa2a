/* Which sanitizer a test is built with: SANITIZED with AddressSanitizer or ThreadSanitizer, FRAMES_ARE_COUNTED with
 * the latter, which gives up at 65,536 frames (sanitizer_stackdepot.cpp): recursions deeper than that cannot run. */
#ifndef TEST_SANITIZED_H
#define TEST_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#elif __has_feature(thread_sanitizer)
#define SANITIZED
#define FRAMES_ARE_COUNTED
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED
#endif
#ifdef __SANITIZE_THREAD__
#define SANITIZED
#define FRAMES_ARE_COUNTED
#endif

#endif
