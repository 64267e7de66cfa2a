/* --profile: how often each kernel ran and how long, from the device's own clock. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PENDING = 4096 };

uint32_t profile_row(Profile *p, const char *name, const char *kernel, uint32_t line)
{
    for (uint32_t i = 0; i < p->nrows; i++)
        if (p->rows[i].line == line && strcmp(p->rows[i].name, name) == 0 && strcmp(p->rows[i].kernel, kernel) == 0)
            return i;
    if (p->nrows == p->rows_room) {
        uint32_t room = p->rows_room ? 2 * p->rows_room : 64;
        ProfileRow *rows = realloc(p->rows, room * sizeof *rows);
        if (!rows)
            return 0; /* times are then added to the wrong row; nothing else depends on it */
        p->rows = rows;
        p->rows_room = room;
    }
    p->rows[p->nrows] = (ProfileRow){name, kernel, line, 0, 0};
    return p->nrows++;
}

static void collect(DpRt *rt)
{
    Profile *p = &rt->profile;
    if (p->nevents)
        clFinish(rt->queue);
    for (uint32_t i = 0; i < p->nevents; i++) {
        cl_ulong begin = 0, end = 0;
        clGetEventProfilingInfo(p->events[i].event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
        clGetEventProfilingInfo(p->events[i].event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        clReleaseEvent(p->events[i].event);
        p->rows[p->events[i].row].count++;
        p->rows[p->events[i].row].ns += (double)(end - begin);
    }
    p->nevents = 0;
}

void profile_add(DpRt *rt, uint32_t row, cl_event event)
{
    Profile *p = &rt->profile;
    if (!p->events)
        p->events = malloc(MAX_PENDING * sizeof *p->events);
    if (!p->events || p->nrows == 0) {
        clReleaseEvent(event);
        return;
    }
    p->events[p->nevents++] = (ProfileEvent){event, row};
    if (p->nevents == MAX_PENDING)
        collect(rt);
}

static int by_time(const void *a, const void *b)
{
    double x = ((const ProfileRow *)a)->ns, y = ((const ProfileRow *)b)->ns;
    return x < y ? 1 : x > y ? -1 : 0;
}

void profile_print(DpRt *rt, FILE *out)
{
    Profile *p = &rt->profile;
    collect(rt);
    qsort(p->rows, p->nrows, sizeof *p->rows, by_time); /* at the end: row numbers mean nothing from here on */
    double all = 0;
    for (uint32_t i = 0; i < p->nrows; i++)
        all += p->rows[i].ns;
    fprintf(out, "%12s %10s %7s  %-6s %s\n", "time us", "count", "share", "line", "kernel");
    for (uint32_t i = 0; i < p->nrows; i++) {
        const ProfileRow *r = &p->rows[i];
        if (r->count == 0)
            continue;
        char line[16] = "-";
        if (r->line)
            snprintf(line, sizeof line, "%u", r->line);
        fprintf(out, "%12.1f %10llu %6.1f%%  %-6s %s/%s\n", r->ns / 1e3, (unsigned long long)r->count,
                all > 0 ? 100 * r->ns / all : 0, line, r->name, r->kernel);
    }
    char most[32];
    dp_size_print(most, sizeof most, rt->heap.most_used);
    fprintf(out, "%12.1f %10llu launches, %llu read-backs, %s of the heap at most\n", all / 1e3, (unsigned long long)p->launches,
            (unsigned long long)p->looks, most);
}

void profile_close(DpRt *rt)
{
    collect(rt);
    free(rt->profile.rows);
    free(rt->profile.events);
    rt->profile = (Profile){0};
}
