/* Profiles: where a run's time goes (--profile). Each moment belongs to one phase of the host or to a kernel's launch;
 * phases while the program runs, and launches, belong to a line of the program as well. Times are microseconds of the
 * host's clock, and of the device's where kernels run. Without --profile all of it does nothing but count launches. */
#ifndef DP_PROFILE_H
#define DP_PROFILE_H

#include "device.h"
#include "dp_rt.h"

/* What the host does while no kernel runs; each moment belongs to one phase or to a kernel. */
typedef enum ProfilePhase {
    PHASE_HOST,
    PHASE_READING,
    PHASE_OPENING,
    PHASE_COMPILING,
    PHASE_UPLOAD,
    PHASE_LOOK,
    PHASE_DOWNLOAD,
    PHASE_WRITING,
    PHASE_COUNT
} ProfilePhase;
typedef struct PhaseTime {
    double us;
    uint64_t count, bytes;
} PhaseTime;
enum { PROFILE_WAY = 64, PROFILE_WAYS = 8 };
/* Of operations, or versions of a nest, that were chosen. */
typedef struct ProfileWay {
    char text[PROFILE_WAY]; /* which, and behind ": " why, the last time */
    uint64_t count;
} ProfileWay;
/* What a kernel reads and writes, as far as it is counted: see dp_profile_moved. */
typedef struct ProfileBytes {
    uint64_t read, written;
} ProfileBytes;
/* Kernels of one line of the program, and of the library behind it; or one of the runtime's own that a line needs. */
typedef struct ProfileRow {
    const DpKernel *kernel; /* one of those of the row's line; NULL: a phase, or one of the runtime's own kernels */
    const char *name;       /* of these */
    uint32_t line;          /* of Profile.lines; PROFILE_NO_LINE: none */
    uint64_t launches;
    ProfileBytes bytes; /* of a phase, what is read: the bytes of transfers */
    double us;
    bool is_phase;
    uint32_t nways;
    ProfileWay ways[PROFILE_WAYS];
} ProfileRow;
#define PROFILE_NO_LINE UINT32_MAX
/* A line of the program: its kernels, and what the host does while the program is there. */
typedef struct ProfileLine {
    const char *file, *function; /* function: the definition; or NULL */
    uint32_t number;
    double kernels_us, waits_us, host_us;
    uint64_t launches, waits;
    ProfileBytes bytes;
    bool partly; /* a kernel of it has loops: what these read is not counted */
} ProfileLine;
/* What the timeline has: times of the host's clock, in microseconds. */
typedef struct ProfileEvent {
    uint8_t track;
    bool numbered; /* its number is of its name: "round 3" */
    uint32_t line; /* with a file */
    const char *name;
    const char *file; /* NULL: it is at no line */
    double begin, us;
    uint64_t number; /* of a launch: how many elements it goes over */
    uint32_t outer;  /* of a span: the one around it, plus 1 */
    /* Of launches: */
    double host_us; /* until the host goes on, from `begin` */
    DpLaunchTimes times;
    const DpKernel *kernel; /* or NULL */
    uint32_t groups, lanes;
    ProfileBytes bytes;
    char way[PROFILE_WAY];
} ProfileEvent;
typedef struct Timeline {
    bool on;
    ProfileEvent *at;
    uint32_t n, room;
    uint32_t span;            /* the innermost that is open, plus 1 */
    uint32_t unseen;          /* spans within it for which there was no room */
    uint64_t missing;         /* events */
    uint64_t transferred;     /* bytes of the phase at hand */
    const DpKernel *moved_by; /* what dp_profile_moved said of its next launch */
    ProfileBytes moved;
    bool has_offset;
    uint64_t device_origin;           /* of the device\'s clock: its first launch */
    double least_offset, most_offset; /* from the device's clock to the host's */
    double origin;                    /* where the timeline begins */
} Timeline;
typedef struct Profile {
    bool on;
    Timeline timeline;
    ProfileRow *rows;
    uint32_t nrows, rows_room;
    ProfileLine *lines;
    uint32_t nlines, lines_room;
    uint32_t here, here_at; /* the line of the site `here_at` (DpRt.at), the last that was asked for */
    PhaseTime phases[PHASE_COUNT];
    ProfilePhase phase;
    char way[PROFILE_WAY];            /* of the launches at hand; or empty */
    bool way_is_new;                  /* it has not been counted */
    double since;                     /* the phase at hand, in microseconds of the host's clock */
    uint64_t launches, looks, blocks; /* counted always; blocks: taken from the heap */
} Profile;

/* profile.c. Without --profile they do nothing. */
double dp_profile_now(void); /* microseconds */
/* The device is open; when the process began, when it had read its arguments. */
void dp_profile_start(DpRt *rt, double begin, double read, bool timeline);
ProfilePhase dp_profile_switch(DpRt *rt, ProfilePhase to); /* the phase that it was */
void dp_profile_count(DpRt *rt, ProfilePhase phase, uint64_t bytes);
/* The program comes to another place: what the host did until now belongs to the one before. */
void dp_profile_place(DpRt *rt, uint32_t at);
/* A launch of a kernel has ended, and took so long by the device's clock, if that is known. k: NULL for the runtime's
 * own, which have a row of their name at the place of dp_at. first: of this kernel. */
void dp_profile_launch(DpRt *rt, const DpKernel *k, const char *name, const DpLaunch *launch,
                       const DpLaunchTimes *times, bool first);
/* An operation by the kernel goes over n elements, in so many segments, and writes so many bytes: whatever launches it
 * takes, each element is read and written once. Arrays that are read at computed places count as one element for each
 * instance, what loops inside of an instance read does not count. */
void dp_profile_moved(DpRt *rt, uint32_t kernel, uint64_t n, uint64_t segments, uint64_t written);
/* The same of one of the runtime's own, by its name in launches. */
void dp_profile_moved_own(DpRt *rt, const char *name, uint64_t read, uint64_t written);
/* How the launches that follow do what they do, and why: "lane: mean 10, longest 160"; "": there was no choice. */
void dp_profile_way(DpRt *rt, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Which version of a nest goes on from here, and why. */
void dp_profile_nest(DpRt *rt, uint32_t site, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dp_profile_close(DpRt *rt);

/* From here on nothing counts. / What was counted is forgotten, and what comes counts. */
void dp_profile_stop(DpRt *rt);
void dp_profile_restart(DpRt *rt);

/* profile_report.c: at the end; stops the profile. runs: of how many runs it is, all is divided by that. False: the
 * host has no memory for it. */
bool dp_profile_print(DpRt *rt, bool json, uint64_t runs, FILE *out);

extern const char *const dp_phase_names[PHASE_COUNT];
void dp_json_text(FILE *out, const char *s); /* in quotes */

/* profile_trace.c: nothing happens to a timeline that is not on. */
void dp_timeline_phase(Timeline *t, ProfilePhase phase, double begin, double us, const ProfileLine *line);
void dp_timeline_launch(Timeline *t, const ProfileEvent *launch);
void dp_timeline_moved(Timeline *t, const DpKernel *kernel, ProfileBytes bytes, bool behind);
void dp_timeline_restart(Timeline *t, double now);
void dp_timeline_close(Timeline *t);
void dp_timeline_print(DpRt *rt, const char *entry, FILE *out); /* at the end; it records no more */

/* profile_copy.c */
/* GB/s, read and written, of a copy from one place of the device to another; 0: it cannot be measured. *bytes: how long
 * it was. */
double dp_profile_copy(DpRt *rt, uint64_t *bytes);

#endif
