/* Advice behind a syntax error: the forms of other languages, and what is open. It looks at the last tokens
 * only, so it may say nothing, but what it says has to be right for everything that looks like that. */
#include "syntax/advice.h"

#include "parser.h"

#include <string.h>

/* ---- what has been read ---- */

/* 0 is the token found, 1 the one before it, … */
static const RecentToken *recent(const ParseState *p, uint32_t back)
{
    static const RecentToken none = {T_END, {0}};
    return back < p->recent_count && back < RECENT_TOKENS ? &p->recent[(p->recent_count - 1 - back) % RECENT_TOKENS]
                                                          : &none;
}

static int kind_at(const ParseState *p, uint32_t back) { return recent(p, back)->kind; }

static bool is_text(const ParseState *p, uint32_t back, const char *word)
{
    const RecentToken *t = recent(p, back);
    size_t n = strlen(word);
    return t->at.end - t->at.start == n && memcmp(p->session->files.at[p->file]->text + t->at.start, word, n) == 0;
}

static bool is_adjacent(const ParseState *p, uint32_t back)
{
    return recent(p, back)->at.start == recent(p, back + 1)->at.end;
}

static char next_character(const ParseState *p) { return p->session->files.at[p->file]->text[recent(p, 0)->at.end]; }

/* Where the definition that is being read begins, or nothing has been read. */
static bool begins_definition(int kind)
{
    return kind == T_DEF || kind == T_ENTRY || kind == T_TYPE || kind == T_IMPORT || kind == T_END;
}

/* The nearest of these words behind the last definition's, or NULL. */
static const char *foreign_word(const ParseState *p, const char *const *words, uint32_t n)
{
    for (uint32_t back = 0; back < RECENT_TOKENS; back++) {
        int kind = kind_at(p, back);
        if (back && begins_definition(kind))
            return NULL;
        for (uint32_t i = 0; kind == T_NAME && i < n; i++)
            if (is_text(p, back, words[i]))
                return words[i];
    }
    return NULL;
}
#define FOREIGN(p, ...)                                                                                                \
    foreign_word((p), (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* In the same definition, as far as that is known. */
static bool has_recent(const ParseState *p, int kind)
{
    for (uint32_t back = 1; back < RECENT_TOKENS && !begins_definition(kind_at(p, back)); back++)
        if (kind_at(p, back) == kind)
            return true;
    return false;
}

static char innermost_bracket(const ParseState *p)
{
    return p->brackets.n ? p->brackets.at[p->brackets.n - 1].open : '\0';
}

/* ---- open words: `let` until its `in`, `if` until its `else`, `loop` until its `do` ---- */

static bool ends_value(int kind)
{
    return kind == T_NAME || kind == T_CTOR || kind == T_INT || kind == T_FLOAT || kind == T_CHAR || kind == T_STRING ||
           kind == T_TRUE || kind == T_FALSE || kind == T_PROJECTION || kind == T_PAREN_CLOSE ||
           kind == T_BRACKET_CLOSE || kind == T_BRACE_CLOSE || kind == T_WILD;
}

static uint32_t bracket_base(const ParseState *p)
{
    return p->brackets.n ? p->brackets.at[p->brackets.n - 1].open_words : 0;
}

static const OpenWord *innermost_word(const ParseState *p)
{
    return p->words.n > bracket_base(p) ? &p->words.at[p->words.n - 1] : NULL;
}

static void close_word(ParseState *p, int kind)
{
    const OpenWord *top = innermost_word(p);
    if (!top || top->kind != kind)
        return;
    p->closed = *top;
    p->has_closed = true;
    p->words.n--;
}

/* The innermost word open before the token found. */
static const OpenWord *open_word(const ParseState *p) { return p->has_closed ? &p->closed : innermost_word(p); }

void advice_note_token(ParseState *p, int kind, Span at)
{
    int before = kind_at(p, 0);
    bool goes_on = kind == T_LET && ends_value(before) && innermost_word(p) && innermost_word(p)->kind == T_LET;
    p->has_closed = false;
    if (kind == T_IN)
        close_word(p, T_LET);
    if (kind == T_ELSE)
        close_word(p, T_IF);
    if (kind == T_DO)
        close_word(p, T_LOOP);
    if (goes_on)
        p->words.at[p->words.n - 1].at = at; /* several `let`s share one `in` */
    else if (kind == T_LET || kind == T_IF || kind == T_LOOP)
        vec_push(p->session->arena, &p->words, ((OpenWord){kind, at}));
    p->recent[p->recent_count++ % RECENT_TOKENS] = (RecentToken){kind, at};
}

/* The word whose continuation is missing, and what to say of it; NULL where another thing is wrong. */
const char *advice_unfinished(const ParseState *p, const Wanted *w, Span *at)
{
    const OpenWord *top = open_word(p);
    if (!top)
        return NULL;
    *at = top->at;
    if (top->kind == T_LET && w->in)
        return "this `let` has no `in`";
    if (top->kind == T_IF && w->then)
        return "this `if` has no `then`";
    if (top->kind == T_IF && w->else_)
        return "this `if` has no `else`";
    if (top->kind == T_LOOP && w->do_)
        return "this `loop` has no `do`";
    return NULL;
}

/* ---- by the token found ---- */

static const char each_form[] = "an apply-to-each is written `{ e : x in xs | condition }`";
static const char lambda_form[] = "a function is written `\\x -> e`";
static const char cases_form[] =
    "every case of a `match` begins with `case`, without braces: `match x case 0 -> … case _ -> …`";
static const char let_form[] = "a name is bound by `let x = e in …`";

static const char *of_words(const ParseState *p, const Wanted *w)
{
    if (w->definition && !w->behind_expression)
        return NULL; /* of_definition */
    if (kind_at(p, 1) == T_IMPORT)
        return "a path stands between quotes: `import \"stats\"`";
    if (FOREIGN(p, "return"))
        return "nothing returns: a function's result is the expression behind its `=`, `def f (x: i64) : i64 = e`";
    if (FOREIGN(p, "begin"))
        return "expressions are grouped by parentheses";
    if (FOREIGN(p, "fun", "fn", "lambda", "function"))
        return lambda_form;
    if (FOREIGN(p, "elif", "elseif", "elsif"))
        return "write `else if`, two words";
    if (kind_at(p, 0) == T_ASSIGN && FOREIGN(p, "var", "val", "const", "mut", "auto"))
        return let_form;
    if (FOREIGN(p, "where"))
        return "there is no `where`: bind names before they are used, by `let x = e in …`";
    if (kind_at(p, 0) == T_ASSIGN && FOREIGN(p, "and"))
        return "every binding has a `let` of its own; one `in` ends them all";
    return NULL;
}

static bool is_top_of_definition(const ParseState *p)
{
    return !p->brackets.n && !open_word(p) && !has_recent(p, T_CASE);
}

static const char *of_assign_pair(const ParseState *p, const Wanted *w)
{
    int before = is_adjacent(p, 0) ? kind_at(p, 1) : T_END;
    char next = next_character(p);
    if (before == T_COLON)
        return "`:=` is written `=`: nothing is assigned, a new name is bound";
    if (before == T_SLASH)
        return "inequality is written `!=`; there are no assignments: a new value is bound by `let x = e in …`";
    if (before == T_EQ)
        return "equality is written `==`";
    if (next == '<')
        return "write `<=`";
    if (next == '>' && (w->then || w->do_))
        return "write `>=`";
    if (next == '>' && w->in)
        return innermost_bracket(p) == '{' ? cases_form : "write `>=`";
    if (next == '>')
        return "write `->`";
    if (before != T_END && w->expression)
        return "there are no assignments: a new value is bound by `let x = e in …`";
    return NULL;
}

static const char *of_assign(const ParseState *p, const Wanted *w)
{
    const char *pair = of_assign_pair(p, w);
    if (pair)
        return pair;
    if (w->in && open_word(p) && open_word(p)->kind == T_LOOP)
        return "a counting loop is written `loop s = 0 for i < n do …`";
    if (innermost_bracket(p) == '(' && w->arrow)
        return "close the parameter by `)`; there are no default values";
    if (innermost_bracket(p) == '(' && has_recent(p, T_FOR))
        return "a counting loop is written `loop s = 0 for i < n do …`";
    if (kind_at(p, 1) == T_STRING && innermost_bracket(p) == '{')
        return "the name of a field stands without quotes";
    if (w->in && innermost_bracket(p) == '{')
        return "write `in` between a name and its sequence: `x in xs`";
    if (!w->behind_expression)
        return NULL;
    if (is_top_of_definition(p) && kind_at(p, 1) == T_BRACKET_CLOSE)
        return "an updated copy is written `xs with [i] = v`; equality is `==`";
    if (is_top_of_definition(p) && kind_at(p, 1) == T_NAME)
        return "equality is written `==`; a name is bound by `let x = e in …`";
    return "equality is written `==`";
}

static const char *of_bar(const ParseState *p, const Wanted *w)
{
    if (kind_at(p, 1) == T_ARRAY_OPEN)
        return "an array is written `[a, b, c]`";
    if (w->type && kind_at(p, 1) == T_ASSIGN)
        return "no `|` stands in front of the first constructor";
    if (w->definition)
        return "a constructor begins with `#`: `#circle f64 | #square f64`";
    if (w->arrow)
        return "a case has one pattern: write another `case` for the other";
    if (kind_at(p, 1) == T_WITH || w->case_)
        return "every case of a `match` begins with `case`: `match x case 0 -> … case _ -> …`";
    if (kind_at(p, 0) != T_FILTER_BAR)
        return NULL;
    if (w->in && open_word(p) && open_word(p)->kind == T_LET)
        return "directly inside `{ }` a `|` starts the condition: write `(a | b)` for the operator";
    if (w->in)
        return "an apply-to-each is written `{ e : x in xs | condition }`, the operator in it `(a | b)`";
    return "directly inside `{ }` a `|` starts the condition: write `&&` for a second condition, `(a | b)` for the "
           "operator";
}

/* `{ e : k,` but not `{ x: k,`, which is meant as a record. */
static bool is_first_of_pattern(const ParseState *p)
{
    return kind_at(p, 1) == T_NAME && kind_at(p, 2) == T_COLON && kind_at(p, 4) != T_BRACE_OPEN;
}

static const char *of_comma(const ParseState *p, const Wanted *w)
{
    if (innermost_bracket(p) == '[' && w->bracket_close && w->behind_expression)
        return "an element of a row is written `xss[i][j]`";
    if (innermost_bracket(p) == '{' && w->semicolon)
        return "binders are separated by `;`, and the condition stands behind `|`";
    if (innermost_bracket(p) == '{' && w->in)
        return is_first_of_pattern(p) ? "a pattern of several values stands in parentheses: `{ e : (k, v) in pairs }`"
                                      : "the fields of a record are written `x = e`";
    if (open_word(p) && open_word(p)->kind == T_LOOP && !w->in && !w->do_)
        return "several values are a tuple: `loop (a, b) = (0, 1) …`";
    if (kind_at(p, 1) == T_INT && !innermost_bracket(p) && !open_word(p))
        return "digits are grouped by `_`: `1_000`";
    if (open_word(p) && open_word(p)->kind == T_LET && w->in)
        return "every binding has a `let` of its own; one `in` ends them all";
    if (!innermost_bracket(p) && (w->behind_expression || (open_word(p) && w->assign)))
        return "several values are a tuple, in parentheses: `(a, b)`";
    return NULL;
}

/* Names and commas only, from the opening brace on. */
static bool follows_listed_names(const ParseState *p)
{
    uint32_t back = 1;
    while (kind_at(p, back) == T_NAME && kind_at(p, back + 1) == T_COMMA)
        back += 2;
    return back > 1 && kind_at(p, back) == T_NAME && kind_at(p, back + 1) == T_BRACE_OPEN;
}

static const char *of_colon(const ParseState *p, const Wanted *w)
{
    bool doubled = (kind_at(p, 1) == T_COLON && is_adjacent(p, 0)) || next_character(p) == ':';
    if (innermost_bracket(p) == '[' && w->bracket_close)
        return w->comma ? each_form : "a slice has no step: it is `xs[a:b]`; `reverse xs` turns a sequence around";
    if (has_recent(p, T_LAMBDA) && w->arrow)
        return "a parameter with a type needs parentheses: `\\(x: i64) -> e`";
    if (w->assign && w->arrow)
        return "a parameter with a type needs parentheses: `def f (x: i64) : i64 = e`";
    if (doubled && w->type)
        return "a type is written behind one `:`";
    if (doubled)
        return "to put x in front of xs, write `[x] ++ xs`";
    if (follows_listed_names(p))
        return "several values are a tuple, in parentheses: `{ (x, y) : x in xs; y in ys }`";
    if (w->do_)
        return "the body of a loop stands behind `do`";
    if (w->then || w->else_ || kind_at(p, 1) == T_THEN || kind_at(p, 1) == T_ELSE)
        return "`if c then a else b` has no colons";
    bool lacks_in = innermost_bracket(p) == '{' && open_word(p) && w->in;
    if (w->behind_expression && !lacks_in)
        return "a type behind an expression needs parentheses, `(e : t)`; a range is `a...b`; x in front of xs is `[x] "
               "++ xs`";
    return NULL; /* advice_unfinished */
}

/* The word whose `=` is wanted, or another kind where it is too far back. */
static int head_word(const ParseState *p)
{
    for (uint32_t back = 1; back < RECENT_TOKENS; back++) {
        int kind = kind_at(p, back);
        if (begins_definition(kind) || kind == T_ASSIGN || kind == T_LET || kind == T_LOOP || kind == T_WITH)
            return kind;
    }
    return T_ASSIGN;
}

static const char *of_arrow(const ParseState *p, const Wanted *w)
{
    if (w->assign && (begins_definition(head_word(p)) || head_word(p) == T_LET))
        return "the type of the result stands behind `:`";
    if (w->case_)
        return "every case of a `match` begins with `case`";
    if (innermost_bracket(p) == '{' && w->in && has_recent(p, T_MATCH))
        return cases_form;
    if (kind_at(p, 1) == T_GT && is_adjacent(p, 0))
        return "functions are composed by pipes: `\\x -> x |> f |> g`";
    if (kind_at(p, 1) == T_NAME && is_adjacent(p, 0))
        return "a field is written `r.x`, a function `\\x -> e`";
    if (innermost_bracket(p) && w->behind_expression)
        return lambda_form;
    if (w->behind_expression)
        return "a function is written `\\x -> e`, a case `case p -> e`";
    return NULL;
}

/* Where the head of a definition goes on without `=`. */
static const char *of_missing_assign(const ParseState *p, const Wanted *w)
{
    char bracket = innermost_bracket(p);
    bool in_head = w->assign && (bracket == '\0' || bracket == '{') && begins_definition(head_word(p));
    return in_head ? "the body of a definition stands behind `=`" : NULL;
}

static const char *of_keyword(const ParseState *p, const Wanted *w)
{
    int found = kind_at(p, 0);
    if (found == T_FOR && w->behind_expression && !w->do_)
        return each_form;
    if (found == T_IF && w->arrow)
        return "a case has no condition: write `case p -> if c then … else …`";
    if (found == T_IF && innermost_bracket(p) == '{' && w->semicolon)
        return "the condition stands behind `|`";
    if (found == T_FOR && w->expression && innermost_bracket(p) == '{' && kind_at(p, 1) == T_BRACE_OPEN)
        return each_form;
    if ((found == T_FOR || found == T_WHILE) && (w->expression || kind_at(p, 1) == T_LOOP))
        return "a loop begins with its state: `loop s = 0 for x in xs do s + x`";
    if ((found == T_FOR || found == T_WHILE) && w->assign && open_word(p) && open_word(p)->kind == T_LOOP)
        return "the state of a loop needs its first value: `loop s = 0 for x in xs do s + x`";
    if (found == T_CASE && w->expression)
        return "cases belong to a `match`: `match x case 0 -> … case _ -> …`";
    if (found == T_IN && w->then)
        return "whether x is in xs is `any (== x) xs`";
    if (found == T_IN && !open_word(p))
        return has_recent(p, T_LET) ? "no `let` is open here that this `in` could end"
                                    : "whether x is in xs is `any (== x) xs`; no `let` is open here";
    if (found == T_ELSE && !open_word(p))
        return "no `if` is open here that this `else` could belong to";
    if (found == T_CASE && kind_at(p, 1) == T_WITH)
        return "`case` follows `match x` without `with`";
    if (found == T_LET && w->definition && !w->behind_expression)
        return "at top level a name is defined by `def`";
    if (found == T_IF && w->behind_expression)
        return "a choice is written `if c then a else b`; as an argument it needs parentheses";
    if (found == T_FOR || found == T_WHILE || found == T_CASE || found == T_IN || found == T_ELSE)
        return NULL;
    return w->behind_expression ? "as an argument it needs parentheses" : of_missing_assign(p, w);
}

static const char *of_open_bracket(const ParseState *p, const Wanted *w)
{
    bool heads_definition = kind_at(p, 2) == T_DEF || kind_at(p, 2) == T_ENTRY;
    if (kind_at(p, 1) == T_DOT)
        return "an element is written `xs[i]`";
    if (kind_at(p, 2) == T_LET && is_adjacent(p, 0))
        return "nothing is assigned; an updated copy is bound by `let ys = xs with [i] = v`";
    if (kind_at(p, 1) == T_CASE)
        return "sequences have no patterns: ask `is_empty xs` or `length xs`";
    if (w->assign && head_word(p) == T_WITH)
        return "an index stands directly behind what it is taken from, without a blank: `xss with [i][j] = v`";
    if (heads_definition)
        return "sizes are not declared: the first parameter whose type names `n` binds it, `def f (xs: [n]i64) …`";
    return of_missing_assign(p, w);
}

static bool in_type(const Wanted *w) { return (w->arrow || w->type) && !w->pattern; }

static const char *of_less(const ParseState *p, const Wanted *w)
{
    if (in_type(w) && kind_at(p, 1) == T_NAME)
        return "arguments of types stand behind them, `pair i64`; a sequence of t is `[t]`";
    if (next_character(p) == '-' && innermost_bracket(p) == '{')
        return "write `in` between a name and its sequence: `x in xs`";
    if (next_character(p) == '-' && w->assign)
        return "write `=`";
    return NULL;
}

static const char *of_operator(const ParseState *p, const Wanted *w)
{
    int found = kind_at(p, 0), before = kind_at(p, 1);
    if (found == T_NOT && next_character(p) == '!')
        return "an element is written `xs[i]`";
    if (found == T_NOT && w->behind_expression)
        return "as an argument it needs parentheses: `f (!x)`";
    if (found == T_TILDE && next_character(p) == '=')
        return "inequality is written `!=`";
    if (found == T_TILDE && w->behind_expression)
        return "as an argument it needs parentheses: `f (~x)`";
    if (found == T_GT && before == T_LT && is_adjacent(p, 0))
        return "inequality is written `!=`";
    if ((found == T_PIPE || found == T_BACK_PIPE) && before == T_PAREN_OPEN)
        return "pipes have no sections: write `\\x -> x |> f`";
    if (found == T_RANGE_TO && innermost_bracket(p) == '[' && w->expression)
        return "sequences are joined by `++`: `xs ++ [x]`";
    if (found == T_RANGE_TO && innermost_bracket(p) == '{')
        return "a record pattern names all fields: `{x, y = _}`";
    if (in_type(w) && innermost_bracket(p) == '[')
        return "a size is a name or an integer";
    if (in_type(w) && !ends_value(kind_at(p, 1)) && (found == T_STAR || found == T_BITAND))
        return "values have neither owners nor references: the type stands alone";
    if (in_type(w) && found == T_STAR)
        return "the type of a tuple is written `(t1, t2)`";
    if (found == T_LE && open_word(p) && open_word(p)->kind == T_LOOP && w->in)
        return "`for i < n` counts from 0 up to, not including, n";
    if (innermost_bracket(p) == '{' && w->in && !w->colon)
        return "a binder is written `x in xs`; conditions stand behind `|` at the end";
    return NULL;
}

static const char *of_semicolon(const ParseState *p, const Wanted *w)
{
    char bracket = innermost_bracket(p);
    if (bracket == '[' && in_type(w))
        return "a sequence of 3 elements is written `[3]t`";
    if (bracket == '[')
        return "the elements of an array are separated by `,`";
    if (bracket == '{' && w->comma)
        return "the fields of a record are separated by `,`";
    if (bracket == '(' && w->behind_expression)
        return "nothing is done in sequence: a value is bound by `let x = e in …`";
    if (bracket)
        return NULL;
    if (w->in)
        return "nothing ends with `;`: a `let` is ended by `in`, or by the next `let`";
    return "nothing ends with `;`";
}

static const char *of_dot(const ParseState *p, const Wanted *w)
{
    char next = next_character(p);
    if (w->arrow && has_recent(p, T_LAMBDA))
        return lambda_form;
    if (kind_at(p, 0) == T_RANGE_STEP)
        return innermost_bracket(p) == '{' ? "an updated copy is written `r with x = v`" : NULL;
    if (next >= '0' && next <= '9')
        return "a number has digits on both sides of its point";
    return NULL;
}

/* Behind an opening brace and an expression. */
static const char *of_brace_close(const ParseState *p, const Wanted *w)
{
    if (!w->colon)
        return "the fields of a record are written `x = e`, an apply-to-each `{ e : x in xs }`";
    if (has_recent(p, T_WITH))
        return "an update stands without braces: `r with x = v`";
    const OpenWord *word = open_word(p);
    if (word && word->kind == T_LOOP && (has_recent(p, T_FOR) || has_recent(p, T_WHILE)))
        return "the body of a loop stands behind `do`, without braces";
    return word && word->kind == T_IF ? "`if c then a else b` has no braces" : NULL;
}

static const char *of_closing(const ParseState *p, const Wanted *w)
{
    int found = kind_at(p, 0);
    if (found == T_BRACE_CLOSE && kind_at(p, 1) == T_BRACE_OPEN)
        return "the empty tuple is `()`, an empty sequence `[]`";
    if (found == T_BRACKET_CLOSE && kind_at(p, 1) == T_INDEX_OPEN && w->expression)
        return "an element is written `xs[i]`, a part `xs[a:b]`";
    if (found == T_BRACKET_CLOSE && w->type)
        return "a sequence of t is written `[t]`";
    if (p->closed_nothing)
        return "no bracket is open here";
    if (kind_at(p, 1) == T_APPEND)
        return "`++` joins two sequences; nothing is incremented";
    return found == T_BRACE_CLOSE && w->in ? of_brace_close(p, w) : NULL;
}

/* Words with which definitions begin elsewhere. */
static const char *of_definition(const ParseState *p)
{
    static const char *const types[] = {"data", "struct", "enum", "newtype", "record", "class"};
    static const char *const modules[] = {"module", "open", "using", "use", "from", "include", "require"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_text(p, 0, types[i]))
            return "a type is defined by `type`: `type point = {x: f64, y: f64}`";
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (is_text(p, 0, modules[i]))
            return "the definitions of another file are brought in by `import \"path\"`";
    return "a definition begins with `def`: `def f (x: i64) : i64 = e`";
}

static bool is_reserved(int kind)
{
    return kind == T_IF || kind == T_THEN || kind == T_ELSE || kind == T_MATCH || kind == T_CASE || kind == T_LOOP ||
           kind == T_FOR || kind == T_WHILE || kind == T_DO || kind == T_WITH || kind == T_IN || kind == T_LET ||
           kind == T_DEF || kind == T_ENTRY || kind == T_TYPE || kind == T_IMPORT || kind == T_TRUE || kind == T_FALSE;
}

/* In the place of a name. */
static const char *of_reserved(const ParseState *p, const Wanted *w)
{
    int before = kind_at(p, 1);
    bool after_opening = before == T_PAREN_OPEN || before == T_COMMA || before == T_BRACE_OPEN;
    bool is_name = before == T_DEF || before == T_ENTRY || before == T_TYPE || before == T_DOT ||
                   (after_opening && !w->expression);
    return is_reserved(kind_at(p, 0)) && is_name ? "this word is reserved: choose another name" : NULL;
}

static const char *of_name(const ParseState *p, const Wanted *w)
{
    if (w->in && is_text(p, 0, "of"))
        return "write `in`";
    if (w->definition)
        return of_definition(p);
    if (kind_at(p, 2) == T_TYPE)
        return "a type parameter is written `'a`";
    if (innermost_bracket(p) == '(' && kind_at(p, 1) == T_NAME && w->colon)
        return "the type of a parameter stands behind it: `(x: i64)`";
    return of_missing_assign(p, w);
}

static const char *of_value(const ParseState *p, const Wanted *w)
{
    if (innermost_bracket(p) == '{' && kind_at(p, 1) == T_COMMA)
        return "an array is written `[a, b, c]`";
    return of_missing_assign(p, w);
}

/* The end of a definition. */
static const char *of_end(const ParseState *p, const Wanted *w)
{
    if (kind_at(p, 0) == T_DEF && w->expression)
        return "a local function is written `let f x = e in …`";
    if (kind_at(p, 0) == T_IMPORT && w->expression)
        return "imports stand at top level";
    if (w->assign && begins_definition(head_word(p)))
        return "a definition has its types in its head: `def f (x: t) : r = e`";
    if (kind_at(p, 1) == T_APPEND && is_adjacent(p, 1))
        return "`++` joins two sequences; nothing is incremented";
    return NULL;
}

static const char *of_comment(const ParseState *p, const Wanted *w)
{
    static const char comment_form[] = "a comment begins with `--` and ends with the line";
    int found = kind_at(p, 0);
    char next = next_character(p);
    bool behind_slash = kind_at(p, 1) == T_SLASH && is_adjacent(p, 0); /* which was an operator */
    if (found == T_SLASH && behind_slash)
        return "integers are divided by `/`, which truncates; a comment begins with `--`";
    if ((found == T_SLASH && (next == '/' || next == '*')) || (found == T_STAR && behind_slash))
        return comment_form;
    bool opens = (found == T_PAREN_OPEN && next == '*') || (found == T_BRACE_OPEN && next == '-');
    return opens && w->definition ? comment_form : NULL;
}

static const char *of_type_variable(const ParseState *p, const Wanted *w)
{
    const RecentToken *t = recent(p, 0);
    if (kind_at(p, 1) == T_TYPE)
        return "parameters stand behind the name: `type pair 'a = (a, a)`";
    if (w->expression && t->at.end - t->at.start > 2)
        return "a string stands between double quotes: `\"text\"`";
    return w->expression ? "a character stands between two quotes: `'c'`" : NULL;
}

const char *advice_for(const ParseState *p, const Wanted *w)
{
    const char *said = of_words(p, w);
    if (!said)
        said = of_comment(p, w);
    if (!said)
        said = of_reserved(p, w);
    if (said)
        return said;
    if (kind_at(p, 1) == T_WITH && kind_at(p, 0) != T_BAR && kind_at(p, 0) != T_CASE && has_recent(p, T_MATCH))
        return "every case of a `match` begins with `case`, without `with`: `match x case #a -> … case _ -> …`";
    if (kind_at(p, 1) == T_WITH && kind_at(p, 0) != T_BAR && kind_at(p, 0) != T_CASE)
        return "an update is written `xs with [i] = v` or `r with x = v`";
    if (kind_at(p, 1) == T_DOT && is_adjacent(p, 0) &&
        (kind_at(p, 0) == T_STAR || kind_at(p, 0) == T_SLASH || kind_at(p, 0) == T_PLUS || kind_at(p, 0) == T_MINUS))
        return "for each element, an operator stands in an apply-to-each: `{ x * y : x in xs; y in ys }`";
    if (kind_at(p, 1) == T_DOT && kind_at(p, 2) == T_INT && kind_at(p, 0) != T_DOT)
        return "a number has digits on both sides of its point";
    switch (kind_at(p, 0)) {
    case T_ASSIGN: return of_assign(p, w);
    case T_BAR:
    case T_FILTER_BAR: return of_bar(p, w);
    case T_COMMA: return of_comma(p, w);
    case T_COLON: return of_colon(p, w);
    case T_SEMICOLON: return of_semicolon(p, w);
    case T_ARROW: return of_arrow(p, w);
    case T_LT: return of_less(p, w) ? of_less(p, w) : of_operator(p, w);
    case T_RANGE_STEP:
    case T_DOT: return of_dot(p, w);
    case T_NAME: return of_name(p, w);
    case T_TYPE_VARIABLE: return of_type_variable(p, w);
    case T_INT:
    case T_FLOAT:
    case T_STRING:
    case T_CHAR: return of_value(p, w);
    case T_ARRAY_OPEN:
    case T_INDEX_OPEN: return of_open_bracket(p, w);
    case T_PAREN_CLOSE:
    case T_BRACKET_CLOSE:
    case T_BRACE_CLOSE: return of_closing(p, w);
    case T_DEF:
    case T_ENTRY:
    case T_TYPE:
    case T_IMPORT:
    case T_END: return of_end(p, w);
    case T_IF:
    case T_MATCH:
    case T_LAMBDA:
    case T_LOOP:
    case T_LET:
    case T_FOR:
    case T_WHILE:
    case T_CASE:
    case T_IN:
    case T_ELSE: return of_keyword(p, w);
    default: return of_operator(p, w) ? of_operator(p, w) : of_missing_assign(p, w);
    }
}
