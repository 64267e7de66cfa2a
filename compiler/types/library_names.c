#include "types/check_internal.h"

#include "support/embedded.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Names that are not defined here, but in a module of the library or in the prelude: what to import, or what to leave
 * out. The library's sources are formatted, each definition beginning a line, so that finding a name takes no parser.
 */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'';
}

/* Has the text a line that begins with the word and the name? */
static bool defines(const char *text, const char *word, Name name)
{
    size_t length = strlen(word), n = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0 && strncmp(line + length, name, n) == 0 && !is_name_char(line[length + n]))
            return true;
    }
    return false;
}

/* The module's name as imports have it, or NULL where the file is something else. */
static const char *module_name(Checker *c, const EmbeddedFile *file)
{
    const char *name = embedded_module(file);
    return name ? arena_strndup(c->arena, name, strlen(name) - strlen(".dp")) : NULL;
}

/* A file of that name beside the importing one comes before the library's. */
static bool is_shadowed(Checker *c, Span at, const char *module)
{
    const char *path = c->s->files.at[at.file]->path, *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    return access(arena_printf(c->arena, "%.*s%s.dp", folder, path, module), F_OK) == 0;
}

typedef VEC(const char *) ModuleNames;

/* The modules that have a definition of that name, beginning with `word`. */
static ModuleNames find_modules(Checker *c, Span at, const char *word, Name name)
{
    ModuleNames found = {0};
    for (const EmbeddedFile *f = embedded_files; f->name && !is_internal(name); f++) {
        const char *module = module_name(c, f);
        if (module && defines(f->text, word, name) && !is_shadowed(c, at, module))
            vec_push(c->arena, &found, module);
    }
    return found;
}

static bool note_imports(Checker *c, const ModuleNames *modules, Name alias)
{
    StrBuf text = {0};
    for (uint32_t i = 0; i < modules->n; i++) {
        strbuf_printf(&text, "%s`import \"%s\"", i == 0 ? "" : i + 1 == modules->n ? " or " : ", ", modules->at[i]);
        strbuf_printf(&text, alias ? " as %s`" : "`", alias);
    }
    if (modules->n)
        diag_note_text(c->s, "the library has it: %s", text.text);
    strbuf_free(&text);
    return modules->n > 0;
}

bool note_library_value(Checker *c, Span at, Name name)
{
    ModuleNames modules = find_modules(c, at, "def ", name);
    return note_imports(c, &modules, NULL);
}

bool note_library_type(Checker *c, Span at, Name name)
{
    ModuleNames modules = find_modules(c, at, "type ", name);
    return note_imports(c, &modules, NULL);
}

bool is_prelude_name(const Checker *c, Name name)
{
    return !is_internal(name) && (ptrmap_get(&c->scopes[0].values, name) || ptrmap_get(&c->builtin_names, name));
}

/* Of several modules that have it, the one called like the qualifier, in whatever case. */
static void prefer_qualifier(ModuleNames *modules, Name qualifier)
{
    for (uint32_t i = 0; i < modules->n; i++) {
        if (strcasecmp(modules->at[i], qualifier) == 0) {
            modules->at[0] = modules->at[i];
            modules->n = 1;
        }
    }
}

bool note_unknown_module(Checker *c, Span at, Name qualifier, Name member, bool is_type)
{
    ModuleNames modules = find_modules(c, at, is_type ? "type " : "def ", member);
    prefer_qualifier(&modules, qualifier);
    if (note_imports(c, &modules, qualifier))
        return true;
    if (!is_type && is_prelude_name(c, member)) {
        diag_note_text(c->s, "`%s` is in the prelude: without `%s.`", member, qualifier);
        return true;
    }
    return !is_type && note_foreign_name(c->s, member);
}

bool note_type_as_module(Checker *c, Name scalar, Name member)
{
    static const char *const largest[] = {"highest", "max_value", "maxBound", "MAX", "largest"};
    static const char *const least[] = {"lowest", "min_value", "minBound", "MIN", "least"};
    for (size_t i = 0; i < sizeof largest / sizeof *largest; i++) {
        bool is_largest = strcmp(member, largest[i]) == 0;
        if (!is_largest && strcmp(member, least[i]) != 0)
            continue;
        diag_note_text(c->s, "it is called `%s_%s`", is_largest ? "max" : "min", scalar);
        return true;
    }
    bool converts = strncmp(member, "to_", 3) == 0 && find_scalar(c, intern_cstr(c->s, member + 3));
    if (find_scalar(c, member))
        diag_note_text(c->s, "`%s x` converts from all types", scalar);
    else if (converts)
        diag_note_text(c->s, "`%s x` converts from all types", member + 3);
    else if (is_prelude_name(c, member))
        diag_note_text(c->s, "`%s` needs no type: without `%s.`", member, scalar);
    else
        return false;
    return true;
}
