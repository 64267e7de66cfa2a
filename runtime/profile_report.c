/* --profile: the report, as a table of the program's lines or as JSON. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

const char *const dp_phase_names[PHASE_COUNT] = {
    [PHASE_HOST] = "host",
    [PHASE_READING] = "reading arguments",
    [PHASE_OPENING] = "opening the device",
    [PHASE_COMPILING] = "compiling kernels",
    [PHASE_UPLOAD] = "arguments to the device",
    [PHASE_LOOK] = "read-backs",
    [PHASE_DOWNLOAD] = "result from the device",
    [PHASE_WRITING] = "writing the result",
};

typedef struct Report {
    const DpRt *rt;
    FILE *out;
    ProfileRow *rows; /* of kernels and phases, the longest first */
    uint32_t nrows;
    ProfileLine *lines; /* the longest first, and what belongs to none: without a file, its function is what it is */
    uint32_t nlines;
    ProfileLine all;
    double copy; /* GB/s */
    uint64_t copy_bytes;
    double copy_us; /* what measuring it took */
} Report;

/* ---- what there is to report ---- */
static double line_us(const ProfileLine *l) { return l->kernels_us + l->waits_us + l->host_us; }

static int by_time(double x, double y) { return x < y ? 1 : x > y ? -1 : 0; }

static int compare_rows(const void *a, const void *b)
{
    return by_time(((const ProfileRow *)a)->us, ((const ProfileRow *)b)->us);
}

static int compare_lines(const void *a, const void *b) { return by_time(line_us(a), line_us(b)); }

static bool is_same_line(const Report *r, const ProfileRow *row, const ProfileLine *line)
{
    const ProfileLine *at = row->line == PROFILE_NO_LINE ? NULL : &r->rt->profile.lines[row->line];
    return at && line->file && at->number == line->number && strcmp(at->file, line->file) == 0;
}

static void add_line(Report *r, const ProfileLine *line)
{
    r->lines[r->nlines++] = *line;
    r->all.kernels_us += line->kernels_us;
    r->all.waits_us += line->waits_us;
    r->all.host_us += line->host_us;
    r->all.launches += line->launches;
    r->all.waits += line->waits;
    r->all.bytes.read += line->bytes.read;
    r->all.bytes.written += line->bytes.written;
}

static void divide_bytes(ProfileBytes *b, uint64_t by)
{
    b->read /= by;
    b->written /= by;
}

/* By the number of runs: the mean of one. */
static void divide(Profile *p, uint64_t by)
{
    for (uint32_t i = 0; i < p->nrows; i++) {
        p->rows[i].us /= (double)by;
        p->rows[i].launches /= by;
        divide_bytes(&p->rows[i].bytes, by);
        for (uint32_t k = 0; k < p->rows[i].nways; k++) /* not always taken: at least once */
            p->rows[i].ways[k].count = (p->rows[i].ways[k].count + by - 1) / by;
    }
    for (uint32_t i = 0; i < p->nlines; i++) {
        ProfileLine *l = &p->lines[i];
        l->kernels_us /= (double)by;
        l->waits_us /= (double)by;
        l->host_us /= (double)by;
        l->launches /= by;
        l->waits /= by;
        divide_bytes(&l->bytes, by);
    }
    for (ProfilePhase i = 0; i < PHASE_COUNT; i++) {
        p->phases[i].us /= (double)by;
        p->phases[i].count /= by;
        p->phases[i].bytes /= by;
    }
}

/* Less what belongs to lines. */
static ProfileLine rest_of_phase(const Profile *p, ProfilePhase phase)
{
    const PhaseTime *t = &p->phases[phase];
    ProfileLine rest = {.function = dp_phase_names[phase], .host_us = t->us};
    if (phase == PHASE_LOOK)
        rest = (ProfileLine){.function = dp_phase_names[phase], .waits_us = t->us, .waits = t->count};
    else
        rest.bytes.read = t->bytes;
    for (uint32_t i = 0; i < p->nlines; i++) {
        rest.host_us -= phase == PHASE_HOST ? p->lines[i].host_us : 0;
        rest.waits_us -= phase == PHASE_LOOK ? p->lines[i].waits_us : 0;
        rest.waits -= phase == PHASE_LOOK ? p->lines[i].waits : 0;
    }
    return rest;
}

static void add_lines(Report *r, const Profile *p)
{
    for (uint32_t i = 0; i < p->nlines; i++)
        if (line_us(&p->lines[i]) > 0)
            add_line(r, &p->lines[i]);
    for (uint32_t i = 0; i < p->nrows; i++) /* kernels outside of the program: of transfers */
        if (p->rows[i].line == PROFILE_NO_LINE && p->rows[i].launches)
            add_line(r, &(ProfileLine){.function = p->rows[i].name,
                                       .kernels_us = p->rows[i].us,
                                       .launches = p->rows[i].launches,
                                       .bytes = p->rows[i].bytes});
    for (ProfilePhase i = 0; i < PHASE_COUNT; i++) {
        const ProfileLine rest = rest_of_phase(p, i);
        if (line_us(&rest) > 1e-3)
            add_line(r, &rest);
    }
    if (r->nlines > 1)
        qsort(r->lines, r->nlines, sizeof *r->lines, compare_lines);
}

static void add_rows(Report *r, const Profile *p)
{
    for (uint32_t i = 0; i < p->nrows; i++)
        if (p->rows[i].launches || p->rows[i].nways)
            r->rows[r->nrows++] = p->rows[i];
    for (int i = 0; i < PHASE_COUNT; i++)
        if (p->phases[i].us > 0)
            r->rows[r->nrows++] = (ProfileRow){.name = dp_phase_names[i],
                                               .line = PROFILE_NO_LINE,
                                               .launches = p->phases[i].count,
                                               .bytes.read = p->phases[i].bytes,
                                               .us = p->phases[i].us,
                                               .is_phase = true};
    if (r->nrows > 1)
        qsort(r->rows, r->nrows, sizeof *r->rows, compare_rows);
}

enum { TEXT_BYTES = 512 }; /* of a line as the compiler quotes it */

/* The text of the line, without the blanks that it begins with; "": nobody knows it. */
static const char *text_of(const DpRt *rt, const ProfileLine *line, char text[TEXT_BYTES])
{
    for (uint32_t i = 0; line->file && i < rt->program->nsites; i++) {
        const DpSite *s = &rt->program->sites[i];
        const char *file = s->file ? s->file : rt->program->file;
        if (s->line == line->number && s->quote && strcmp(file, line->file) == 0) {
            snprintf(text, TEXT_BYTES, "%.*s", (int)strcspn(s->quote, "\n"), s->quote);
            return text + strspn(text, " \t");
        }
    }
    return "";
}

static uint64_t all_bytes(const ProfileBytes *b) { return b->read + b->written; }

static double gb_per_s(const ProfileBytes *b, double us) { return us > 0 ? (double)all_bytes(b) / 1e3 / us : 0; }

/* ---- the table ---- */
enum { WHERE = 117 }; /* its column */

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
    if (r->nways)
        fputc(']', out);
}

/* ", with lines 4, 7 of f.dp": where else what it computes comes from. */
static void print_fused(FILE *out, const DpKernel *k, const char *file)
{
    for (uint32_t i = 0; i < k->nfused; i++) {
        const DpPlace *at = &k->fused[i];
        fputs(i ? ", " : "; with ", out);
        if (strcmp(at->file, file) == 0)
            fprintf(out, "line %u", at->line);
        else
            fprintf(out, "%s:%u %s", at->file, at->line, at->function);
    }
}

/* Below a line: the kernels behind it, where there is something to say of them. */
static void print_row(const Report *r, const ProfileRow *row, const char *file)
{
    const DpKernel *k = row->kernel;
    fprintf(r->out, "%*s- ", WHERE + 2, "");
    if (row->launches)
        fprintf(r->out, "%.1f us, %llu x ", row->us, (unsigned long long)row->launches);
    fputs(k ? k->name : row->name, r->out);
    if (!k && row->launches)
        fputs(" of the runtime", r->out);
    if (k && k->library.file)
        fprintf(r->out, ", %s:%u %s", k->library.file, k->library.line, k->library.function);
    print_ways(r->out, row);
    if (k)
        print_fused(r->out, k, file);
    fputc('\n', r->out);
}

static void print_rows_of(const Report *r, const ProfileLine *line)
{
    for (uint32_t i = 0; i < r->nrows; i++)
        if (is_same_line(r, &r->rows[i], line))
            print_row(r, &r->rows[i], line->file);
}

static void print_number(FILE *out, int width, int digits, double x)
{
    if (x > 0)
        fprintf(out, " %*.*f", width, digits, x);
    else
        fprintf(out, " %*s", width, "");
}

static void print_count(FILE *out, int width, uint64_t n)
{
    if (n)
        fprintf(out, " %*llu", width, (unsigned long long)n);
    else
        fprintf(out, " %*s", width, "");
}

/* bytes: else they are of a transfer, which is no speed of the device. */
static void print_columns(const Report *r, const ProfileLine *l)
{
    FILE *out = r->out;
    const double speed = l->kernels_us > 0 ? gb_per_s(&l->bytes, l->kernels_us) : 0;
    fprintf(out, "%12.1f %6.1f%%", line_us(l), 100 * line_us(l) / line_us(&r->all));
    print_number(out, 12, 1, l->kernels_us);
    print_count(out, 8, l->launches);
    print_number(out, 10, 3, (double)l->bytes.read / 1e6);
    print_number(out, 10, 3, (double)l->bytes.written / 1e6);
    fputc(l->partly ? '+' : ' ', out);
    print_number(out, 8, 2, speed);
    if (speed > 0 && r->copy > 0)
        fprintf(out, " %5.1f%%", 100 * speed / r->copy);
    else
        fprintf(out, " %6s", "");
    print_count(out, 5, l->waits);
    print_number(out, 10, 1, l->waits_us);
    print_number(out, 10, 1, l->host_us);
    fputs("  ", out);
}

static bool any_partly(const Report *r)
{
    for (uint32_t i = 0; i < r->nlines; i++)
        if (r->lines[i].partly)
            return true;
    return false;
}

static void print_end(const Report *r)
{
    char most[32];
    dp_size_print(most, sizeof most, r->rt->heap.most_used);
    print_columns(r, &r->all);
    fprintf(r->out, "all: %llu launches, %llu read-backs, %s of the heap at most\n",
            (unsigned long long)r->rt->profile.launches, (unsigned long long)r->rt->profile.looks, most);
    if (any_partly(r))
        fputs("+: and what loops inside of kernels read, which is not counted\n", r->out);
    if (r->copy > 0)
        fprintf(r->out, "copy: %.2f GB/s, read and written, of %llu MB on this device\n", r->copy,
                (unsigned long long)(r->copy_bytes / 1000000));
    else
        fputs("copy: not measured, the device has no room for one\n", r->out);
}

static void print_table(const Report *r)
{
    fprintf(r->out, "%12s %7s %12s %8s %10s %10s  %8s %6s %5s %10s %10s  %s\n", "time us", "share", "kernels us",
            "launches", "MB read", "written", "GB/s", "copy", "waits", "us", "host us", "where");
    for (uint32_t i = 0; i < r->nlines; i++) {
        const ProfileLine *l = &r->lines[i];
        char room[TEXT_BYTES];
        const char *text = text_of(r->rt, l, room);
        print_columns(r, l);
        if (l->file)
            fprintf(r->out, "%s:%u %s%s%s\n", l->file, l->number, l->function ? l->function : "", *text ? "  " : "",
                    text);
        else
            fprintf(r->out, "(%s)\n", l->function);
        print_rows_of(r, l);
    }
    print_end(r);
}

/* ---- JSON ---- */
void dp_json_text(FILE *out, const char *s)
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
    dp_json_text(out, place->file);
    fprintf(out, ",\"line\":%u,\"function\":", place->line);
    dp_json_text(out, place->function);
}

static void print_json_kernel(FILE *out, const DpKernel *k)
{
    print_json_place(out, &k->place);
    fprintf(out, ",\"kernel\":\"%s\"", k->name);
    if (k->library.file) {
        fprintf(out, ",\"library\":{");
        print_json_place(out, &k->library);
        fputc('}', out);
    }
    for (uint32_t i = 0; i < k->nfused; i++) {
        fputs(i ? ",{" : ",\"fused\":[{", out);
        print_json_place(out, &k->fused[i]);
        fputs(i + 1 < k->nfused ? "}" : "}]", out);
    }
}

static void print_json_row(const Report *r, const ProfileRow *row)
{
    FILE *out = r->out;
    const ProfileLine *line = row->line == PROFILE_NO_LINE ? NULL : &r->rt->profile.lines[row->line];
    fputc('{', out);
    if (row->kernel) {
        print_json_kernel(out, row->kernel);
    } else {
        if (line) {
            fprintf(out, "\"file\":");
            dp_json_text(out, line->file);
            fprintf(out, ",\"line\":%u,", line->number);
        }
        fprintf(out, row->is_phase ? "\"phase\":" : row->launches ? "\"runtime\":" : "\"nest\":");
        dp_json_text(out, row->name);
    }
    for (uint32_t i = 0; i < row->nways; i++)
        fprintf(out, "%s{\"way\":\"%s\",\"count\":%llu}%s", i ? "," : ",\"ways\":[", row->ways[i].text,
                (unsigned long long)row->ways[i].count, i + 1 < row->nways ? "" : "]");
    fprintf(out, ",\"us\":%.1f,\"count\":%llu,\"bytes\":%llu", row->us, (unsigned long long)row->launches,
            (unsigned long long)all_bytes(&row->bytes));
    if (!row->is_phase)
        fprintf(out, ",\"read\":%llu,\"written\":%llu", (unsigned long long)row->bytes.read,
                (unsigned long long)row->bytes.written);
    fputc('}', out);
}

static void print_json_line(const Report *r, const ProfileLine *l)
{
    FILE *out = r->out;
    char room[TEXT_BYTES];
    const char *text = text_of(r->rt, l, room);
    fputc('{', out);
    if (l->file) {
        fprintf(out, "\"file\":");
        dp_json_text(out, l->file);
        fprintf(out, ",\"line\":%u,\"text\":", l->number);
        dp_json_text(out, text);
        fputc(',', out);
    }
    fputs(l->file ? "\"function\":" : "\"phase\":", out);
    dp_json_text(out, l->function ? l->function : "");
    fprintf(out,
            ",\"us\":%.1f,\"kernels_us\":%.1f,\"launches\":%llu,\"read\":%llu,\"written\":%llu,\"loops\":%s,"
            "\"waits\":%llu,\"waits_us\":%.1f,\"host_us\":%.1f",
            line_us(l), l->kernels_us, (unsigned long long)l->launches, (unsigned long long)l->bytes.read,
            (unsigned long long)l->bytes.written, l->partly ? "true" : "false", (unsigned long long)l->waits,
            l->waits_us, l->host_us);
    if (l->kernels_us > 0 && all_bytes(&l->bytes) && r->copy > 0)
        fprintf(out, ",\"of_copy\":%.4f", gb_per_s(&l->bytes, l->kernels_us) / r->copy);
    fputc('}', out);
}

static void print_json(const Report *r)
{
    FILE *out = r->out;
    fprintf(out, "{\"us\":%.1f,\"launches\":%llu,\"read_backs\":%llu,\"heap_bytes\":%llu,", line_us(&r->all),
            (unsigned long long)r->rt->profile.launches, (unsigned long long)r->rt->profile.looks,
            (unsigned long long)r->rt->heap.most_used);
    if (r->copy > 0)
        fprintf(out, "\"copy\":{\"bytes\":%llu,\"gb_per_s\":%.2f,\"us\":%.1f},", (unsigned long long)r->copy_bytes,
                r->copy, r->copy_us);
    fputs("\"lines\":[", out);
    for (uint32_t i = 0; i < r->nlines; i++) {
        fputs(i ? ",\n " : "\n ", out);
        print_json_line(r, &r->lines[i]);
    }
    fputs("],\"rows\":[", out);
    for (uint32_t i = 0; i < r->nrows; i++) {
        fputs(i ? ",\n " : "\n ", out);
        print_json_row(r, &r->rows[i]);
    }
    fputs("]}\n", out);
}

/* ---- all ---- */
bool dp_profile_print(DpRt *rt, bool json, uint64_t runs, FILE *out)
{
    Profile *p = &rt->profile;
    const uint32_t rows = p->nrows + PHASE_COUNT;
    dp_profile_stop(rt);
    divide(p, runs);
    Report r = {.rt = rt,
                .out = out,
                .rows = calloc(rows, sizeof(ProfileRow)),
                .lines = calloc(p->nlines + rows, sizeof(ProfileLine))};
    const bool ok = r.rows && r.lines;
    if (ok) {
        add_rows(&r, p);
        add_lines(&r, p);
        const double begin = dp_profile_now();
        r.copy = dp_profile_copy(rt, &r.copy_bytes);
        r.copy_us = dp_profile_now() - begin;
        (json ? print_json : print_table)(&r);
    }
    free(r.rows);
    free(r.lines);
    return ok;
}
