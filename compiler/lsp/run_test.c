#include "lsp/run_test.h"

#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_OUTPUT = 1 << 16, SLOWEST = 600 };

static char *copy(const char *text)
{
    char *made = memory_alloc(strlen(text) + 1, 1);
    strcpy(made, text);
    return made;
}

enum { PATH_ROOM = sizeof((TestRun *)NULL)->folder.path + 16 };
static const char *const streams[] = {"messages", "output"}; /* in the order in which they are shown */

static void stream_path(const TestRun *t, int stream, char path[PATH_ROOM])
{
    temp_folder_file(&t->folder, streams[stream], path, PATH_ROOM);
}

static void *run(void *data)
{
    TestRun *t = data;
    char messages[PATH_ROOM], output[PATH_ROOM], only[300];
    stream_path(t, 0, messages);
    stream_path(t, 1, output);
    snprintf(only, sizeof only, "--only=%s", t->name);
    char *words[] = {"/proc/self/exe", "test", only, "--", t->path, NULL};
    t->status = process_run(words, (ProcessOptions){.in = "/dev/null",
                                                    .out = output,
                                                    .err = messages,
                                                    .tmp = t->folder.path,
                                                    .seconds = SLOWEST,
                                                    .own_group = true});
    close(t->done_end);
    return NULL;
}

static void forget(TestRun *t)
{
    close(t->done);
    temp_folder_remove(&t->folder);
    free(t->id);
    free(t->name);
    free(t->path);
    t->is_running = false;
}

bool test_run_start(TestRun *t, const char *id, const char *path, const char *name)
{
    int ends[2];
    if (!temp_folder_create(&t->folder))
        return false;
    if (pipe(ends) != 0) {
        temp_folder_remove(&t->folder);
        return false;
    }
    t->done = ends[0];
    t->done_end = ends[1];
    t->id = copy(id);
    t->name = copy(name);
    t->path = copy(path);
    t->is_running = true;
    if (pthread_create(&t->thread, NULL, run, t) == 0)
        return true;
    close(ends[1]);
    forget(t);
    return false;
}

int test_run_finish(TestRun *t, StrBuf *output)
{
    pthread_join(t->thread, NULL);
    for (int stream = 0; stream < 2; stream++) {
        char path[PATH_ROOM], *text = memory_alloc(MOST_OUTPUT, 1);
        stream_path(t, stream, path);
        FILE *in = fopen(path, "rb");
        strbuf_addn(output, text, in ? fread(text, 1, MOST_OUTPUT - 1, in) : 0);
        if (in)
            fclose(in);
        free(text);
    }
    forget(t);
    return t->status;
}
