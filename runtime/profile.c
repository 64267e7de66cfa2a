/* --profile: where a run's time goes, by lines of the program and by what the host does.
 *
 * Each moment belongs to one row, so that the rows add up to the whole: the host's clock runs for one phase at a time
 * (dp_profile_switch), and kernels run one after the other, each waited for. Of such a launch the kernel's line gets
 * what the device's clock says, and the rest is the host's, or for a kernel's first launch that of compiling it, as
 * devices may compile that late. */
#include "internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

DpCounts dp_counts(const DpRt *rt) { return (DpCounts){rt->profile.launches, rt->profile.looks, rt->profile.blocks}; }

double dp_profile_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void dp_profile_start(Profile *p, double begin, double read)
{
    double now = dp_profile_now();
    p->phases[PHASE_READING].us = read - begin;
    p->phases[PHASE_OPENING].us = now - read;
    p->since = now;
}

/* What has passed since the last call. */
static double lap(Profile *p)
{
    double now = dp_profile_now(), us = now - p->since;
    p->since = now;
    return us;
}

ProfilePhase dp_profile_switch(DpRt *rt, ProfilePhase to)
{
    Profile *p = &rt->profile;
    ProfilePhase from = p->phase;
    if (!p->on)
        return from;
    p->phases[from].us += lap(p);
    p->phase = to;
    return from;
}

void dp_profile_count(DpRt *rt, ProfilePhase phase, uint64_t bytes)
{
    rt->profile.phases[phase].count++;
    rt->profile.phases[phase].bytes += bytes;
}

/* ---- rows ---- */
static bool is_same_line(const DpPlace *a, const DpPlace *b)
{
    if (!a->file || !b->file)
        return !a->file && !b->file;
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static bool is_same_row(const ProfileRow *a, const ProfileRow *b)
{
    if (a->kernel && b->kernel)
        return is_same_line(&a->kernel->place, &b->kernel->place) &&
               is_same_line(&a->kernel->library, &b->kernel->library);
    const DpPlace at = {a->file, a->line, NULL}, other = {b->file, b->line, NULL};
    return !a->kernel && !b->kernel && strcmp(a->name, b->name) == 0 && is_same_line(&at, &other);
}

/* at: of what is no kernel of the program's, a site, plus 1; 0: none. NULL where the host has no memory for it. */
static ProfileRow *find_row(DpRt *rt, const DpKernel *k, const char *name, uint32_t at)
{
    Profile *p = &rt->profile;
    ProfileRow row = {.kernel = k, .name = name};
    if (!k && at > 0 && at <= rt->program->nsites) {
        const DpSite *site = &rt->program->sites[at - 1];
        row.file = site->file ? site->file : rt->program->file;
        row.line = site->line;
    }
    for (uint32_t i = 0; i < p->nrows; i++)
        if (is_same_row(&p->rows[i], &row))
            return &p->rows[i];
    if (p->nrows + PHASE_COUNT >= p->rows_room) { /* with room for the phases, at the end */
        uint32_t room = p->rows_room ? 2 * p->rows_room : 64;
        ProfileRow *rows = realloc(p->rows, room * sizeof *rows);
        if (!rows) {
            dp_rt_fail_host_memory(rt, room * sizeof *rows);
            return NULL;
        }
        p->rows = rows;
        p->rows_room = room;
    }
    p->rows[p->nrows] = row;
    return &p->rows[p->nrows++];
}

/* What a launch over n instances moves: an element of each column that its body reads, and of those that it writes. */
static uint64_t launch_bytes(const DpKernel *k, uint64_t n)
{
    uint64_t each = k->in_bytes;
    for (uint32_t i = 0; i < k->nouts && (k->kind == DP_K_MAP || k->kind == DP_K_SCAN || k->kind == DP_K_SCATTER); i++)
        each += k->out_bytes[i];
    return dp_size_mul(n, each);
}

void dp_profile_way(DpRt *rt, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (rt->profile.on)
        vsnprintf(rt->profile.way, sizeof rt->profile.way, format, args);
    rt->profile.way_is_new = true;
    va_end(args);
}

/* One more of those that are called so. The last of a row has those for which there is no room. */
static void count_way(ProfileRow *r, const char *way)
{
    const size_t name = strcspn(way, ":");
    uint32_t i = 0;
    while (i < r->nways && (strcspn(r->ways[i].text, ":") != name || memcmp(r->ways[i].text, way, name) != 0))
        i++;
    if (i == PROFILE_WAYS)
        i--;
    r->nways = i == r->nways ? i + 1 : r->nways;
    r->ways[i].count++;
    snprintf(r->ways[i].text, sizeof r->ways[i].text, "%s", way);
}

void dp_profile_nest(DpRt *rt, uint32_t site, const char *format, ...)
{
    char way[PROFILE_WAY];
    va_list args;
    va_start(args, format);
    ProfileRow *r = rt->profile.on && !dp_failed(rt) ? find_row(rt, NULL, "versions of a nest", site + 1) : NULL;
    vsnprintf(way, sizeof way, format, args);
    if (r)
        count_way(r, way);
    va_end(args);
}

void dp_profile_launch(DpRt *rt, const DpKernel *k, const char *name, uint64_t nanoseconds, bool first, uint64_t n)
{
    Profile *p = &rt->profile;
    double us = lap(p), device = (double)nanoseconds / 1e3 < us ? (double)nanoseconds / 1e3 : us;
    ProfileRow *r = find_row(rt, k, name, rt->at);
    p->phases[first ? PHASE_COMPILING : PHASE_HOST].us += us - device;
    if (!r)
        return;
    r->us += device;
    r->launches++;
    if (r->kernel && p->way[0] && p->way_is_new) {
        count_way(r, p->way);
        p->way_is_new = false;
    }
    if (r->kernel)
        r->bytes += launch_bytes(r->kernel, n);
}

/* ---- the report ---- */
static const char *const phase_names[PHASE_COUNT] = {
    [PHASE_HOST] = "host",
    [PHASE_READING] = "reading arguments",
    [PHASE_OPENING] = "opening the device",
    [PHASE_COMPILING] = "compiling kernels",
    [PHASE_UPLOAD] = "arguments to the device",
    [PHASE_LOOK] = "read-backs",
    [PHASE_DOWNLOAD] = "result from the device",
    [PHASE_WRITING] = "writing the result",
};

static int by_time(const void *a, const void *b)
{
    double x = ((const ProfileRow *)a)->us, y = ((const ProfileRow *)b)->us;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Rows of one shape, of kernels and of phases. At the end: row numbers mean nothing from here on. */
static uint32_t all_rows(Profile *p, ProfileRow *to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nrows; i++)
        if (p->rows[i].launches || p->rows[i].nways)
            to[n++] = p->rows[i];
    for (int i = 0; i < PHASE_COUNT; i++)
        if (p->phases[i].us > 0)
            to[n++] = (ProfileRow){.name = phase_names[i],
                                   .launches = p->phases[i].count,
                                   .bytes = p->phases[i].bytes,
                                   .us = p->phases[i].us,
                                   .is_phase = true};
    qsort(to, n, sizeof *to, by_time);
    return n;
}

static double gb_per_s(const ProfileRow *r) { return r->us > 0 ? (double)r->bytes / 1e3 / r->us : 0; }

/* " [team of 8: mean 100.3, longest 871]", or with how often each was taken. */
static void print_ways(FILE *out, const ProfileRow *r)
{
    const bool once = r->nways == 1 && r->ways[0].count == 1;
    for (uint32_t i = 0; i < r->nways; i++) {
        fputs(i ? "; " : " [", out);
        if (!once)
            fprintf(out, "%llu x ", (unsigned long long)r->ways[i].count);
        fputs(r->ways[i].text, out);
    }
    fputs(r->nways ? "]\n" : "\n", out);
}

/* The line of the program, and behind it that of the library which it calls, or what of the runtime it needs. */
static void print_where(FILE *out, const ProfileRow *r)
{
    const DpKernel *k = r->kernel;
    if (!k) {
        if (r->file)
            fprintf(out, "%s:%u ", r->file, r->line);
        fprintf(out, r->is_phase || r->nways ? "(%s)" : "(%s, of the runtime)", r->name);
        print_ways(out, r);
        return;
    }
    fprintf(out, "%s:%u %s", k->place.file, k->place.line, k->place.function);
    if (k->library.file)
        fprintf(out, ", %s:%u %s", k->library.file, k->library.line, k->library.function);
    print_ways(out, r);
}

static void print_table(const ProfileRow *rows, uint32_t n, double all, FILE *out)
{
    fprintf(out, "%12s %7s %10s %10s %8s  %s\n", "time us", "share", "count", "MB", "GB/s", "where");
    for (uint32_t i = 0; i < n; i++) {
        const ProfileRow *r = &rows[i];
        char moved[32] = "";
        if (r->bytes)
            snprintf(moved, sizeof moved, "%10.3f %8.2f", (double)r->bytes / 1e6, gb_per_s(r));
        fprintf(out, "%12.1f %6.1f%% ", r->us, 100 * r->us / all);
        char count[24] = "";
        if (r->launches)
            snprintf(count, sizeof count, "%llu", (unsigned long long)r->launches);
        fprintf(out, "%10s %19s  ", count, moved);
        print_where(out, r);
    }
}

static void print_json_text(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        if ((unsigned char)*s < 0x20)
            fprintf(out, "\\u%04x", (unsigned char)*s);
        else
            fprintf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    }
    fputc('"', out);
}

static void print_json_place(FILE *out, const DpPlace *place)
{
    fprintf(out, "\"file\":");
    print_json_text(out, place->file);
    fprintf(out, ",\"line\":%u,\"function\":", place->line);
    print_json_text(out, place->function);
}

static void print_json_row(FILE *out, const ProfileRow *r)
{
    fputc('{', out);
    if (r->kernel) {
        print_json_place(out, &r->kernel->place);
        if (r->kernel->library.file) {
            fprintf(out, ",\"library\":{");
            print_json_place(out, &r->kernel->library);
            fputc('}', out);
        }
    } else {
        if (r->file) {
            fprintf(out, "\"file\":");
            print_json_text(out, r->file);
            fprintf(out, ",\"line\":%u,", r->line);
        }
        fprintf(out, r->is_phase ? "\"phase\":" : r->nways ? "\"nest\":" : "\"runtime\":");
        print_json_text(out, r->name);
    }
    for (uint32_t i = 0; i < r->nways; i++)
        fprintf(out, "%s{\"way\":\"%s\",\"count\":%llu}%s", i ? "," : ",\"ways\":[", r->ways[i].text,
                (unsigned long long)r->ways[i].count, i + 1 < r->nways ? "" : "]");
    fprintf(out, ",\"us\":%.1f,\"count\":%llu,\"bytes\":%llu}", r->us, (unsigned long long)r->launches,
            (unsigned long long)r->bytes);
}

static void print_json(const DpRt *rt, const ProfileRow *rows, uint32_t n, double all, FILE *out)
{
    fprintf(out, "{\"us\":%.1f,\"launches\":%llu,\"read_backs\":%llu,\"heap_bytes\":%llu,\"rows\":[", all,
            (unsigned long long)rt->profile.launches, (unsigned long long)rt->profile.looks,
            (unsigned long long)rt->heap.most_used);
    for (uint32_t i = 0; i < n; i++) {
        fputs(i ? ",\n " : "\n ", out);
        print_json_row(out, &rows[i]);
    }
    fputs("]}\n", out);
}

void dp_profile_print(DpRt *rt, bool json, FILE *out)
{
    Profile *p = &rt->profile;
    dp_profile_switch(rt, PHASE_HOST);
    ProfileRow phases[PHASE_COUNT], *rows = p->rows ? p->rows : phases;
    uint32_t n = all_rows(p, rows);
    double all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += rows[i].us;
    if (json) {
        print_json(rt, rows, n, all, out);
    } else {
        print_table(rows, n, all, out);
        char most[32];
        dp_size_print(most, sizeof most, rt->heap.most_used);
        fprintf(out, "%12.1f us, %llu launches, %llu read-backs, %s of the heap at most\n", all,
                (unsigned long long)p->launches, (unsigned long long)p->looks, most);
    }
    p->nrows = 0;
}

void dp_profile_close(DpRt *rt)
{
    free(rt->profile.rows);
    rt->profile = (Profile){0};
}
