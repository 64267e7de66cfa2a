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

static void output_path(const TestRun *t, char path[sizeof t->folder.path + 16])
{
    temp_folder_file(&t->folder, "output", path, sizeof t->folder.path + 16);
}

static void *run(void *data)
{
    TestRun *t = data;
    char output[sizeof t->folder.path + 16], only[300];
    output_path(t, output);
    snprintf(only, sizeof only, "--only=%s", t->name);
    char *words[] = {"/proc/self/exe", "test", only, "--", t->path, NULL};
    t->status = process_run(words, (ProcessOptions){.in = "/dev/null",
                                                    .out = output,
                                                    .err = output,
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
    char path[sizeof t->folder.path + 16], *text = memory_alloc(MOST_OUTPUT, 1);
    pthread_join(t->thread, NULL);
    output_path(t, path);
    FILE *in = fopen(path, "rb");
    strbuf_addn(output, text, in ? fread(text, 1, MOST_OUTPUT - 1, in) : 0);
    if (in)
        fclose(in);
    free(text);
    forget(t);
    return t->status;
}
