#include "cost/meter_report.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_BYTES = 70 }; /* of a line of the program */

/* Work behind each step of the longest chain: how many processors could be busy. */
static double parallelism(const Meter *m) { return meter_span(m) ? (double)meter_work(m) / (double)meter_span(m) : 1; }

static const char *path_of(const Session *s, uint32_t file) { return s->files.at[file]->path; }

/* ---- text ---- */

static void print_defs(StrBuf *out, Session *s, Meter *m)
{
    uint32_t n = 0;
    const MeterDef *defs = meter_defs(m, &n);
    strbuf_printf(out, "\n%12s %14s %14s %12s  %s\n", "calls", "work", "its own", "span", "definition");
    for (uint32_t i = 0; i < n; i++) {
        const Span at = defs[i].fn->span;
        const LineCol place = source_linecol(s, at.file, at.start);
        strbuf_printf(out, "%12" PRIu64 " %14" PRIu64 " %14" PRIu64 " %12" PRIu64 "  %s (%s:%u)\n", defs[i].calls,
                      defs[i].work, defs[i].own_work, defs[i].span, defs[i].fn->name, path_of(s, at.file), place.line);
    }
}

static void print_line_text(StrBuf *out, Session *s, const MeterLine *line)
{
    uint32_t n = 0;
    const char *text = source_line(s, line->file, line->line, &n);
    while (n > 0 && *text == ' ')
        text++, n--;
    strbuf_addn(out, text, n > TEXT_BYTES ? TEXT_BYTES : n);
    strbuf_add(out, n > TEXT_BYTES ? "…\n" : "\n");
}

static void print_lines(StrBuf *out, Session *s, Meter *m)
{
    uint32_t n = 0;
    const MeterLine *lines = meter_lines(m, &n);
    strbuf_printf(out, "\n%12s %14s %14s  %s\n", "times", "work", "of the span", "line");
    for (uint32_t i = 0; i < n; i++) {
        strbuf_printf(out, "%12" PRIu64 " %14" PRIu64 " %14" PRIu64 "  %s:%u: ", lines[i].times, lines[i].work,
                      lines[i].span, path_of(s, lines[i].file), lines[i].line);
        print_line_text(out, s, &lines[i]);
    }
}

void meter_print(StrBuf *out, Session *s, Meter *m, const char *entry)
{
    strbuf_printf(out, "%s: work %" PRIu64 ", span %" PRIu64 ", parallelism %.1f\n", entry, meter_work(m),
                  meter_span(m), parallelism(m));
    print_defs(out, s, m);
    print_lines(out, s, m);
}

/* ---- JSON ---- */

static void print_json_place(StrBuf *out, const Session *s, uint32_t file, uint32_t line)
{
    strbuf_add(out, "\"file\":");
    diag_json_string(out, path_of(s, file));
    strbuf_printf(out, ",\"line\":%u", line);
}

void meter_print_json(StrBuf *out, Session *s, Meter *m, const char *entry)
{
    uint32_t ndefs = 0, nlines = 0;
    const MeterDef *defs = meter_defs(m, &ndefs);
    const MeterLine *lines = meter_lines(m, &nlines);
    strbuf_add(out, "{\"entry\":");
    diag_json_string(out, entry);
    strbuf_printf(out, ",\"work\":%" PRIu64 ",\"span\":%" PRIu64 ",\"definitions\":[", meter_work(m), meter_span(m));
    for (uint32_t i = 0; i < ndefs; i++) {
        const MeterDef *d = &defs[i];
        strbuf_add(out, i ? ",{\"name\":" : "{\"name\":");
        diag_json_string(out, d->fn->name);
        strbuf_add(out, ",");
        print_json_place(out, s, d->fn->span.file, source_linecol(s, d->fn->span.file, d->fn->span.start).line);
        strbuf_printf(out, ",\"calls\":%" PRIu64 ",\"work\":%" PRIu64 ",\"own_work\":%" PRIu64 ",\"span\":%" PRIu64 "}",
                      d->calls, d->work, d->own_work, d->span);
    }
    strbuf_add(out, "],\"lines\":[");
    for (uint32_t i = 0; i < nlines; i++) {
        strbuf_add(out, i ? ",{" : "{");
        print_json_place(out, s, lines[i].file, lines[i].line);
        strbuf_printf(out, ",\"times\":%" PRIu64 ",\"work\":%" PRIu64 ",\"span\":%" PRIu64 "}", lines[i].times,
                      lines[i].work, lines[i].span);
    }
    strbuf_add(out, "]}\n");
}
