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

/* What has passed since the last call. */
static double lap(Profile *p)
{
    double now = dp_profile_now(), us = now - p->since;
    p->since = now;
    return us;
}

bool dp_profile_form(const char *text, bool *json, const char **trace)
{
    static const char word[] = "json", prefix[] = "trace:";
    const size_t n = strcspn(text, ",");
    *json = n == strlen(word) && memcmp(text, word, n) == 0;
    *trace = NULL;
    const char *rest = *json ? text + n + (text[n] == ',') : text;
    if (!*rest)
        return text[0] == '\0' || text[n] == '\0'; /* no comma at the end */
    *trace = rest + strlen(prefix);
    return strncmp(rest, prefix, strlen(prefix)) == 0 && **trace;
}

/* ---- lines ---- */
static uint32_t find_line(DpRt *rt, const char *file, uint32_t number, const char *function)
{
    Profile *p = &rt->profile;
    for (uint32_t i = 0; i < p->nlines; i++)
        if (p->lines[i].number == number && strcmp(p->lines[i].file, file) == 0) {
            p->lines[i].function = p->lines[i].function ? p->lines[i].function : function;
            return i;
        }
    if (p->nlines == p->lines_room) {
        uint32_t room = p->lines_room ? 2 * p->lines_room : 64;
        ProfileLine *lines = realloc(p->lines, room * sizeof *lines);
        if (!lines) {
            dp_rt_fail_host_memory(rt, room * sizeof *lines);
            return PROFILE_NO_LINE;
        }
        p->lines = lines;
        p->lines_room = room;
    }
    p->lines[p->nlines] = (ProfileLine){.file = file, .number = number, .function = function};
    return p->nlines++;
}

/* at: a site, plus 1; 0: none. */
static uint32_t line_at(DpRt *rt, uint32_t at)
{
    Profile *p = &rt->profile;
    if (at == 0 || at > rt->program->nsites)
        return PROFILE_NO_LINE;
    if (p->here_at != at) {
        const DpSite *site = &rt->program->sites[at - 1];
        p->here = find_line(rt, site->file ? site->file : rt->program->file, site->line, NULL);
        p->here_at = at;
    }
    return p->here;
}

/* ---- phases ---- */
/* What the host did: bookkeeping and waiting belong to the line where the program is, too. */
static void add_phase(DpRt *rt, ProfilePhase phase, double begin, double us)
{
    Profile *p = &rt->profile;
    p->phases[phase].us += us;
    const uint32_t at = line_at(rt, rt->at);
    const uint32_t here = phase == PHASE_HOST || phase == PHASE_LOOK ? at : PROFILE_NO_LINE;
    dp_timeline_phase(&p->timeline, phase, begin, us, at == PROFILE_NO_LINE ? NULL : &p->lines[at]);
    if (here == PROFILE_NO_LINE)
        return;
    *(phase == PHASE_HOST ? &p->lines[here].host_us : &p->lines[here].waits_us) += us;
}

void dp_profile_start(DpRt *rt, double begin, double read, bool timeline)
{
    Profile *p = &rt->profile;
    double now = dp_profile_now();
    p->timeline.on = timeline;
    dp_timeline_restart(&p->timeline, begin);
    add_phase(rt, PHASE_READING, begin, read - begin);
    add_phase(rt, PHASE_OPENING, read, now - read);
    p->since = now;
}

void dp_profile_stop(DpRt *rt)
{
    dp_profile_switch(rt, PHASE_HOST);
    rt->profile.on = rt->profile.timeline.on = false;
}

void dp_profile_restart(DpRt *rt)
{
    Profile *p = &rt->profile;
    if (!p->on)
        return;
    p->nrows = p->nlines = p->here_at = 0;
    memset(p->phases, 0, sizeof p->phases);
    lap(p);
    dp_timeline_restart(&p->timeline, p->since);
}

ProfilePhase dp_profile_switch(DpRt *rt, ProfilePhase to)
{
    Profile *p = &rt->profile;
    ProfilePhase from = p->phase;
    if (!p->on)
        return from;
    const double begin = p->since;
    add_phase(rt, from, begin, lap(p));
    p->phase = to;
    return from;
}

void dp_profile_place(DpRt *rt, uint32_t at)
{
    if (!rt->profile.on || at == rt->at)
        return;
    const double begin = rt->profile.since;
    add_phase(rt, rt->profile.phase, begin, lap(&rt->profile));
}

void dp_profile_count(DpRt *rt, ProfilePhase phase, uint64_t bytes)
{
    rt->profile.phases[phase].count++;
    rt->profile.phases[phase].bytes += bytes;
    rt->profile.timeline.transferred += bytes;
    const uint32_t here = rt->profile.on && phase == PHASE_LOOK ? line_at(rt, rt->at) : PROFILE_NO_LINE;
    if (here != PROFILE_NO_LINE)
        rt->profile.lines[here].waits++;
}

/* ---- rows ---- */
static bool is_same_place(const DpPlace *a, const DpPlace *b)
{
    if (!a->file || !b->file)
        return !a->file && !b->file;
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static bool is_same_row(const ProfileRow *a, const ProfileRow *b)
{
    if (a->line != b->line || !a->kernel != !b->kernel)
        return false;
    return a->kernel ? is_same_place(&a->kernel->library, &b->kernel->library) : strcmp(a->name, b->name) == 0;
}

/* at: of what is no kernel of the program's, a site, plus 1; 0: none. NULL where the host has no memory for it. */
static ProfileRow *find_row(DpRt *rt, const DpKernel *k, const char *name, uint32_t at)
{
    Profile *p = &rt->profile;
    ProfileRow row = {.kernel = k, .name = name};
    row.line = k ? find_line(rt, k->place.file, k->place.line, k->place.function) : line_at(rt, at);
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

/* ---- ways ---- */
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

/* ---- launches ---- */
static void add_launch(DpRt *rt, const ProfileRow *r, const DpKernel *k, const DpLaunch *launch,
                       const DpLaunchTimes *times, double begin, double us)
{
    Profile *p = &rt->profile;
    const ProfileLine *line = r->line == PROFILE_NO_LINE ? NULL : &p->lines[r->line];
    ProfileEvent e = {.name = k ? k->name : r->name,
                      .file = line ? line->file : NULL,
                      .line = line ? line->number : 0,
                      .begin = begin,
                      .us = us,
                      .host_us = p->since - begin,
                      .number = launch->n ? launch->numbers[0] : 0,
                      .times = *times,
                      .kernel = k,
                      .groups = launch->groups,
                      .lanes = launch->lanes};
    if (k)
        snprintf(e.way, sizeof e.way, "%s", p->way);
    dp_timeline_launch(&p->timeline, &e);
}

void dp_profile_launch(DpRt *rt, const DpKernel *k, const char *name, const DpLaunch *launch,
                       const DpLaunchTimes *times, bool first)
{
    Profile *p = &rt->profile;
    const double begin = p->since, us = lap(p);
    const double said = times->ended ? (double)(times->ended - times->begun) / 1e3 : us;
    const double device = said < us ? said : us;
    ProfileRow *r = find_row(rt, k, name, rt->at);
    add_phase(rt, first ? PHASE_COMPILING : PHASE_HOST, begin, us - device);
    if (!r)
        return;
    if (p->timeline.on)
        add_launch(rt, r, k, launch, times, begin, device);
    r->us += device;
    r->launches++;
    if (r->line != PROFILE_NO_LINE) {
        p->lines[r->line].kernels_us += device;
        p->lines[r->line].launches++;
    }
    if (r->kernel && p->way[0] && p->way_is_new) {
        count_way(r, p->way);
        p->way_is_new = false;
    }
}

static void add_bytes(DpRt *rt, ProfileRow *r, uint64_t read, uint64_t written)
{
    if (!r)
        return;
    r->bytes.read += read;
    r->bytes.written += written;
    if (r->line == PROFILE_NO_LINE)
        return;
    rt->profile.lines[r->line].bytes.read += read;
    rt->profile.lines[r->line].bytes.written += written;
}

void dp_profile_moved(DpRt *rt, uint32_t kernel, uint64_t n, uint64_t segments, uint64_t written)
{
    if (!rt->profile.on || dp_failed(rt))
        return;
    const DpKernel *k = dp_rt_info(rt, kernel);
    ProfileRow *r = find_row(rt, k, NULL, 0);
    const uint64_t read = dp_size_add(dp_size_mul(n, k->in_bytes - k->segment_bytes),
                                      dp_size_mul(segments < n ? segments : n, k->segment_bytes));
    add_bytes(rt, r, read, written);
    dp_timeline_moved(&rt->profile.timeline, k, (ProfileBytes){read, written}, n == 0);
    if (r && r->line != PROFILE_NO_LINE)
        rt->profile.lines[r->line].partly |= k->cost == 0;
}

void dp_profile_moved_own(DpRt *rt, const char *name, uint64_t read, uint64_t written)
{
    if (rt->profile.on && !dp_failed(rt))
        add_bytes(rt, find_row(rt, NULL, name, rt->at), read, written);
}

void dp_profile_close(DpRt *rt)
{
    free(rt->profile.rows);
    free(rt->profile.lines);
    dp_timeline_close(&rt->profile.timeline);
    rt->profile = (Profile){0};
}
