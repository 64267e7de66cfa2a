/* Says so when a case of `dpc test` takes long on an interpreter: which one, and its input. A loop that does not end
 * would leave the user with nothing else to look at. */
#ifndef DPC_TEST_WATCH_H
#define DPC_TEST_WATCH_H

typedef struct Watch Watch;

Watch *watch_start(void); /* NULL if there is no thread for it: nothing is watched then, which is fine */
void watch_stop(Watch *w);
/* Around a case; the text, of one line, is copied. */
void watch_begin(Watch *w, const char *text);
void watch_end(Watch *w);

#endif
