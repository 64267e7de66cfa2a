/* --profile=trace:FILE: a run's timeline, as JSON that Perfetto and chrome://tracing open ("Trace Event Format").
 *
 * TRACKS, all of one process: what the host goes through (the entry, levels of recursions, rounds of loops and
 * instructions of the plan, one within the other), compiling, transfers and read-backs, and the kernels on the device.
 * Their durations are those that the table adds up.
 *
 * CLOCKS. The device's clock is another than the host's. Each launch is waited for: it begins after the host has asked,
 * and ends before the host goes on. So each bounds what lies between the clocks from both sides, and what all allow is
 * known to half of its width. Where clocks drift apart, a kernel is moved to where the host knows that it was. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 1 << 17 };
typedef enum Track { TRACK_HOST = 1, TRACK_COMPILING, TRACK_TRANSFERS, TRACK_DEVICE } Track;
static const char *const track_names[] = {[TRACK_HOST] = "host",
                                          [TRACK_COMPILING] = "compiling",
                                          [TRACK_TRANSFERS] = "transfers and read-backs",
                                          [TRACK_DEVICE] = "kernels"};

/* ---- recording ---- */
/* NULL where there is no room: then there is one more that is missing. */
static ProfileEvent *add_event(Timeline *t, ProfileEvent event)
{
    if (t->n == t->room && t->n < MOST_EVENTS) {
        const uint32_t room = t->room ? 2 * t->room : 1024;
        ProfileEvent *at = realloc(t->at, room * sizeof *at);
        t->at = at ? at : t->at;
        t->room = at ? room : t->room;
    }
    if (t->n == t->room) {
        t->missing++;
        return NULL;
    }
    t->at[t->n] = event;
    return &t->at[t->n++];
}

static Track track_of(ProfilePhase phase)
{
    switch (phase) {
    case PHASE_COMPILING: return TRACK_COMPILING;
    case PHASE_UPLOAD:
    case PHASE_LOOK:
    case PHASE_DOWNLOAD: return TRACK_TRANSFERS;
    default: return TRACK_HOST;
    }
}

void dp_timeline_phase(Timeline *t, ProfilePhase phase, double begin, double us, const ProfileLine *line)
{
    if (!t->on || phase == PHASE_HOST || (phase == PHASE_COMPILING && us < 1))
        return;
    add_event(t, (ProfileEvent){.track = (uint8_t)track_of(phase),
                                .name = dp_phase_names[phase],
                                .begin = begin,
                                .us = us,
                                .file = line ? line->file : NULL,
                                .line = line ? line->number : 0,
                                .bytes.read = t->transferred});
    t->transferred = 0;
}

/* Microseconds of the device's clock, from the first launch on: small enough for a double to tell nanoseconds. */
static double device_us(const Timeline *t, uint64_t ns) { return (double)(int64_t)(ns - t->device_origin) / 1e3; }

void dp_timeline_launch(Timeline *t, const ProfileEvent *launch)
{
    if (!t->on)
        return;
    ProfileEvent *e = add_event(t, *launch);
    if (!e)
        return;
    e->track = TRACK_DEVICE;
    e->bytes = t->moved_by && t->moved_by == e->kernel ? t->moved : (ProfileBytes){0};
    t->moved_by = NULL;
    if (!launch->times.ended)
        return;
    t->device_origin = t->has_offset ? t->device_origin : launch->times.begun;
    const double least = e->begin - device_us(t, launch->times.begun);
    const double most = e->begin + e->host_us - device_us(t, launch->times.ended);
    t->least_offset = !t->has_offset || least > t->least_offset ? least : t->least_offset;
    t->most_offset = !t->has_offset || most < t->most_offset ? most : t->most_offset;
    t->has_offset = true;
}

/* Before its first launch, or, of what is only known later, behind it. */
void dp_timeline_moved(Timeline *t, const DpKernel *kernel, ProfileBytes bytes, bool behind)
{
    uint32_t i = t->n;
    if (!t->on)
        return;
    if (!behind) {
        t->moved_by = kernel;
        t->moved = bytes;
        return;
    }
    while (i > 0 && t->at[i - 1].kernel != kernel)
        i--;
    if (i > 0)
        t->at[i - 1].bytes.written += bytes.written;
}

bool dp_traces(const DpRt *rt) { return rt->profile.timeline.on; }

void dp_span_begin(DpRt *rt, const DpSpan *span)
{
    Timeline *t = &rt->profile.timeline;
    if (!t->on)
        return;
    ProfileEvent *e = t->unseen ? NULL
                                : add_event(t, (ProfileEvent){.track = TRACK_HOST,
                                                              .name = span->name,
                                                              .file = span->file,
                                                              .line = span->line,
                                                              .number = span->number,
                                                              .numbered = span->numbered,
                                                              .begin = dp_profile_now(),
                                                              .outer = t->span});
    if (e)
        t->span = (uint32_t)(e - t->at) + 1;
    else
        t->unseen++;
}

void dp_span_end(DpRt *rt)
{
    Timeline *t = &rt->profile.timeline;
    if (!t->on)
        return;
    if (t->unseen) {
        t->unseen--;
        return;
    }
    if (t->span) {
        ProfileEvent *e = &t->at[t->span - 1];
        e->us = dp_profile_now() - e->begin;
        t->span = e->outer;
    }
}

void dp_timeline_restart(Timeline *t, double now)
{
    *t = (Timeline){.on = t->on, .at = t->at, .room = t->room, .origin = now};
}

void dp_timeline_close(Timeline *t)
{
    free(t->at);
    *t = (Timeline){0};
}

/* ---- writing ---- */
/* Whole nanoseconds from the origin, so that what lies within something does so in decimals, too. */
static double rounded(const Timeline *t, double us)
{
    const int64_t ns = (int64_t)((us - t->origin) * 1e3 + 0.5);
    return (double)(ns < 0 ? 0 : ns) / 1e3;
}

/* Where clocks have drifted apart, by how much. */
static double known_to(const Timeline *t)
{
    const double width = t->most_offset - t->least_offset;
    return (width < 0 ? -width : width) / 2;
}

static double offset_of(const Timeline *t) { return (t->least_offset + t->most_offset) / 2; }

/* Launches get their place by the device's clock. */
static void place_launch(const Timeline *t, ProfileEvent *e)
{
    const double least = e->begin, most = e->begin + e->host_us - e->us;
    double begin = e->times.ended ? device_us(t, e->times.begun) + offset_of(t) : most;
    begin = begin > most ? most : begin;
    e->begin = begin < least ? least : begin;
}

static int compare_events(const void *a, const void *b)
{
    const ProfileEvent *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->us != y->us ? (x->us > y->us ? -1 : 1) : x->outer < y->outer ? -1 : x->outer > y->outer;
}

static void print_text_member(FILE *out, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(out, ",\"%s\":", name);
    dp_json_text(out, text);
}

static void print_number_member(FILE *out, const char *name, uint64_t n)
{
    if (n)
        fprintf(out, ",\"%s\":%llu", name, (unsigned long long)n);
}

/* "f.dp:12" */
static void print_at(FILE *out, const char *file, uint32_t line)
{
    char at[4200] = "";
    if (file)
        snprintf(at, sizeof at, "%.4096s:%u", file, line);
    dp_json_text(out, at);
}

/* What the kernel computes, for whom, how and why. */
static void print_launch_members(FILE *out, const ProfileEvent *e)
{
    const DpKernel *k = e->kernel;
    print_text_member(out, "function", k ? k->place.function : NULL);
    if (k && k->library.file) {
        fputs(",\"library\":", out);
        print_at(out, k->library.file, k->library.line);
        print_text_member(out, "library_function", k->library.function);
    }
    for (uint32_t i = 0; k && i < k->nfused; i++) {
        fputs(i ? "," : ",\"with\":[", out);
        print_at(out, k->fused[i].file, k->fused[i].line);
        fputs(i + 1 < k->nfused ? "" : "]", out);
    }
    print_text_member(out, "way", e->way);
    print_number_member(out, "elements", e->number);
    print_number_member(out, "groups", e->groups);
    print_number_member(out, "lanes", e->lanes);
    print_number_member(out, "read", e->bytes.read);
    print_number_member(out, "written", e->bytes.written);
    if (e->times.ended && e->times.submitted >= e->times.queued && e->times.begun >= e->times.submitted)
        fprintf(out, ",\"queued_us\":%.3f,\"submitted_us\":%.3f", (double)(e->times.submitted - e->times.queued) / 1e3,
                (double)(e->times.begun - e->times.submitted) / 1e3);
}

static void print_event(const Timeline *t, const ProfileEvent *e, FILE *out)
{
    const double begin = rounded(t, e->begin), end = rounded(t, e->begin + e->us);
    fprintf(out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"cat\":", (int)e->track, begin,
            end - begin);
    dp_json_text(out, track_names[e->track]);
    fputs(",\"name\":", out);
    char name[160];
    if (e->numbered)
        snprintf(name, sizeof name, "%s %llu", e->name, (unsigned long long)e->number);
    else
        snprintf(name, sizeof name, "%s", e->name);
    dp_json_text(out, name);
    fputs(",\"args\":{\"at\":", out);
    print_at(out, e->file, e->line);
    print_number_member(out, "line", e->line);
    if (e->track == TRACK_DEVICE)
        print_launch_members(out, e);
    else
        print_number_member(out, "bytes", e->bytes.read);
    fputs("}}", out);
}

static void print_head(DpRt *rt, const char *entry, FILE *out)
{
    const Timeline *t = &rt->profile.timeline;
    char device[512], name[1024];
    dp_device_title(rt, device, sizeof device);
    snprintf(name, sizeof name, "%.400s of %.500s", entry, rt->program->file);
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"device\":", out);
    dp_json_text(out, device);
    if (t->has_offset)
        fprintf(out, ",\"clock_offset_us\":%.3f,\"clock_known_to_us\":%.3f",
                offset_of(t) - (double)t->device_origin / 1e3, known_to(t));
    fprintf(out, ",\"missing_events\":%llu},\n\"traceEvents\":[\n", (unsigned long long)t->missing);
    fputs("{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"ts\":0,\"name\":\"process_name\",\"args\":{\"name\":", out);
    dp_json_text(out, name);
    fputs("}}", out);
    for (int i = TRACK_HOST; i <= TRACK_DEVICE; i++)
        fprintf(out,
                ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}"
                ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"ts\":0,\"name\":\"thread_sort_index\",\"args\":{\"sort_"
                "index\":%d}}",
                i, track_names[i], i, i);
}

void dp_timeline_print(DpRt *rt, const char *entry, FILE *out)
{
    Timeline *t = &rt->profile.timeline;
    t->on = false;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->at[i].track == TRACK_DEVICE)
            place_launch(t, &t->at[i]);
    if (t->n > 1)
        qsort(t->at, t->n, sizeof *t->at, compare_events);
    print_head(rt, entry, out);
    for (uint32_t i = 0; i < t->n; i++)
        print_event(t, &t->at[i], out);
    fputs("\n]}\n", out);
}
