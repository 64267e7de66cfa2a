#include "types/check_internal.h"

#include "syntax/ast_walk.h"
#include "types/usefulness.h"

#include <string.h>

/* Cases that are missing, and cases that are never reached. */

typedef struct MatchWalk {
    Checker *c;
    bool warns;    /* in the program's own file */
    uint64_t work; /* left for the whole program */
} MatchWalk;

/* From `match` to the end of what is matched. */
static Span head_span(const Expr *e) { return span_join(e->span, e->match.subject->span); }

/* Of an example of what is missed. */
enum { LONGEST_SHOWN = 100 };

static void warn_missed(Checker *c, const Expr *e, const MatchFacts *facts)
{
    StrBuf text = {0};
    for (uint32_t i = 0; i < facts->nmissed; i++) {
        bool last = i + 1 == facts->nmissed && !facts->more_missed;
        bool cut = strlen(facts->missed[i]) > LONGEST_SHOWN;
        strbuf_add(&text, i == 0 ? "" : last ? " and " : ", ");
        strbuf_printf(&text, "`%.*s%s`", LONGEST_SHOWN, facts->missed[i], cut ? "..." : "");
    }
    strbuf_add(&text, facts->more_missed ? " and others" : "");
    diag_warning(c->s, head_span(e), DIAG_NON_EXHAUSTIVE, "this match misses some values");
    diag_note_text(c->s, "no case matches %s", text.text);
    strbuf_free(&text);
}

static void warn_redundant(Checker *c, const Expr *e, const MatchFacts *facts)
{
    for (uint32_t i = 0; i < e->match.n; i++) {
        if (!facts->redundant[i])
            continue;
        uint32_t by = facts->covered_by[i];
        diag_warning(c->s, e->match.cases[i].pat->span, DIAG_REDUNDANT_CASE, "this case is never reached");
        if (by == UINT32_MAX)
            diag_note_text(c->s, "the cases before it take all its values together");
        else
            diag_note(c->s, e->match.cases[by].pat->span, "this case takes all its values");
    }
}

static void check_match(void *context, Expr *e)
{
    MatchWalk *w = context;
    Checker *c = w->c;
    if (e->kind != E_MATCH)
        return;
    Type *subject = c->out->expr_types[e->match.subject->id];
    if (mentions_error(subject)) /* reported elsewhere; its patterns need not fit */
        return;
    MatchFacts facts = usefulness_of_cases(c->arena, subject, e->match.cases, e->match.n, &w->work);
    c->out->exhaustive[e->id] = facts.exhaustive;
    if (!w->warns || !facts.known)
        return;
    if (!facts.exhaustive)
        warn_missed(c, e, &facts);
    warn_redundant(c, e, &facts);
}

void check_matches(Checker *c)
{
    MatchWalk w = {.c = c, .work = PROGRAM_WORK};
    AstVisitor visitor = {.context = &w, .expr = check_match};
    for (uint32_t i = 0; i < c->out->ndefs; i++) {
        const Def *def = c->out->defs[i].def;
        if (c->failed[i])
            continue;
        w.warns = is_program(c, scope_of(c, def));
        ast_walk(def, &visitor);
    }
}
