#include "syntax/load.h"

#include "support/embedded.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct LoadedFile {
    Name path; /* as shown in messages */
    dev_t device;
    ino_t inode; /* files on disk; those of the library are known by their paths */
    Module *module;
    const struct LoadedFile *importer; /* while it is being loaded: who imports it */
    bool loading, on_disk;
} LoadedFile;

typedef struct Loader {
    Session *s;
    AstIds *ids;
    ModuleList *out;
    VEC(LoadedFile *) files;
} Loader;

static void load_imports(Loader *l, LoadedFile *file);

/* ---- paths ---- */

static bool ends_in_dp(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".dp") == 0;
}

static const char *with_suffix(Loader *l, const char *path)
{
    return ends_in_dp(path) ? path : arena_printf(l->s->arena, "%s.dp", path);
}

/* The path as seen from the importing file. */
static Name path_beside(Loader *l, const LoadedFile *importer, const char *path)
{
    const char *slash = strrchr(importer->path, '/');
    if (path[0] == '/' || !slash)
        return intern_cstr(l->s, path);
    return intern_cstr(l->s,
                       arena_printf(l->s->arena, "%.*s%s", (int)(slash + 1 - importer->path), importer->path, path));
}

/* ---- files ---- */

static LoadedFile *find_on_disk(const Loader *l, const struct stat *st)
{
    for (uint32_t i = 0; i < l->files.n; i++) {
        LoadedFile *f = l->files.at[i];
        if (f->on_disk && f->device == st->st_dev && f->inode == st->st_ino)
            return f;
    }
    return NULL;
}

static LoadedFile *find_in_library(const Loader *l, Name path)
{
    for (uint32_t i = 0; i < l->files.n; i++) {
        if (!l->files.at[i]->on_disk && l->files.at[i]->path == path)
            return l->files.at[i];
    }
    return NULL;
}

static LoadedFile *add_file(Loader *l, Name path, uint32_t source, const LoadedFile *importer)
{
    LoadedFile *f = arena_new(l->s->arena, LoadedFile);
    f->path = path;
    f->importer = importer;
    f->module = parse_module(l->s, source, l->ids);
    vec_push(l->s->arena, &l->files, f);
    vec_push(l->s->arena, &l->out->list, f->module);
    return f;
}

/* Whether the file at this path has exactly this text. */
static bool file_has_text(const char *path, const EmbeddedFile *text)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    bool same = true;
    for (uint32_t i = 0; same && i < text->length; i++)
        same = fgetc(in) == (unsigned char)text->text[i];
    same = same && fgetc(in) == EOF;
    fclose(in);
    return same;
}

/* Whether it is the source of a module of the library, which may use what is internal to it: it has a module's name and
 * lies beside this compiler's prelude. */
static bool is_library_source(Loader *l, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return embedded_find(arena_printf(l->s->arena, "stdlib/%s", name)) &&
           file_has_text(arena_printf(l->s->arena, "%.*sprelude.dp", (int)(name - path), path),
                         embedded_find("stdlib/prelude.dp"));
}

static LoadedFile *load_from_disk(Loader *l, Name path, const struct stat *st, const LoadedFile *importer,
                                  const char **why)
{
    uint32_t source = source_add_file(l->s, path, why);
    if (source == UINT32_MAX)
        return NULL;
    l->s->files.at[source]->is_library_source = is_library_source(l, path);
    LoadedFile *f = add_file(l, path, source, importer);
    f->on_disk = true;
    f->device = st->st_dev;
    f->inode = st->st_ino;
    load_imports(l, f);
    return f;
}

static LoadedFile *load_from_library(Loader *l, const char *path, const LoadedFile *importer)
{
    Name name = intern_cstr(l->s, arena_printf(l->s->arena, "stdlib/%s", path));
    LoadedFile *f = find_in_library(l, name);
    const EmbeddedFile *text = f ? NULL : embedded_find(name);
    if (!text)
        return f;
    f = add_file(l, name, source_add_text(l->s, name, text->text, text->length, true), importer);
    load_imports(l, f);
    return f;
}

/* ---- imports ---- */

static void report_circle(Loader *l, const Def *import, const LoadedFile *from, const LoadedFile *to)
{
    const char *chain = to->path;
    for (const LoadedFile *f = from; f != to; f = f->importer)
        chain = arena_printf(l->s->arena, "%s -> %s", f->path, chain);
    diag_error(l->s, import->span, DIAG_IMPORT_CYCLE, "files that import each other: %s -> %s", to->path, chain);
}

static void report_missing(Loader *l, const Def *import, Name beside)
{
    const char *modules = NULL;
    for (const EmbeddedFile *f = embedded_files; f->name; f++) {
        const char *name = embedded_module(f);
        if (name)
            modules = arena_printf(l->s->arena, "%s%s%.*s", modules ? modules : "", modules ? ", " : "",
                                   (int)(strlen(name) - 3), name);
    }
    diag_error(l->s, import->span, DIAG_MISSING_MODULE,
               "there is no module `%s`: no file %s, and none in the standard library", import->path, beside);
    diag_note_text(l->s, "the library has %s", modules);
}

/* The file of an import, loaded now or before; NULL after an error. */
static LoadedFile *find_import(Loader *l, const Def *import, const LoadedFile *importer)
{
    const char *path = with_suffix(l, import->path), *why = NULL;
    LoadedFile *f = NULL;
    if (importer->on_disk) {
        Name beside = path_beside(l, importer, path);
        struct stat st;
        bool there = stat(beside, &st) == 0 && S_ISREG(st.st_mode); /* a device or a pipe may never end */
        if (there && !(f = find_on_disk(l, &st)) && !(f = load_from_disk(l, beside, &st, importer, &why))) {
            diag_error(l->s, import->span, DIAG_MISSING_MODULE, "cannot read %s: %s", beside, why);
            return NULL;
        }
    }
    if (!f)
        f = load_from_library(l, path, importer);
    if (!f)
        report_missing(l, import, path_beside(l, importer, path));
    return f;
}

static void load_imports(Loader *l, LoadedFile *file)
{
    file->loading = true;
    for (uint32_t i = 0; i < file->module->ndefs; i++) {
        Def *def = file->module->defs[i];
        LoadedFile *f = def->kind == DEF_IMPORT && *def->path ? find_import(l, def, file) : NULL;
        if (f && f->loading)
            report_circle(l, def, file, f);
        else if (f)
            def->module = f->module;
    }
    file->loading = false;
}

/* ---- programs of several parts ---- */

static LoadedFile *load_part(Loader *l, const SourcePart *part)
{
    uint32_t source = source_add_text(l->s, part->path, part->text, part->bytes, false);
    l->s->files.at[source]->lines_before = part->lines_before;
    l->s->files.at[source]->is_quiet = part->is_quiet;
    LoadedFile *f = arena_new(l->s->arena, LoadedFile);
    f->path = intern_cstr(l->s, part->path);
    f->on_disk = true; /* it imports files, but is not one: nobody finds it */
    f->module = part->is_expression ? parse_expression(l->s, source, l->ids) : parse_module(l->s, source, l->ids);
    for (uint32_t i = 0; i < f->module->ndefs && !part->is_expression; i++)
        f->module->defs[i]->is_entry = false;
    return f;
}

static bool replaces(const Def *new, const Def *old)
{
    if (new->kind != old->kind || new->name != old->name)
        return false;
    return new->kind != DEF_IMPORT || new->name || strcmp(new->path, old->path) == 0;
}

static void add_part(Module *whole, const Module *part)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < whole->ndefs; i++) {
        bool replaced = false;
        for (uint32_t j = 0; j < part->ndefs; j++)
            replaced |= replaces(part->defs[j], whole->defs[i]);
        if (!replaced)
            whole->defs[kept++] = whole->defs[i];
    }
    if (part->ndefs)
        memcpy(whole->defs + kept, part->defs, part->ndefs * sizeof *part->defs);
    whole->ndefs = kept + part->ndefs;
}

void load_program_parts(Session *s, const SourcePart *parts, uint32_t n, AstIds *ids, ModuleList *out)
{
    Loader l = {.s = s, .ids = ids, .out = out};
    Module *whole = arena_new(s->arena, Module);
    LoadedFile **files = arena_array(s->arena, LoadedFile *, n);
    uint32_t ndefs = 0;
    load_from_library(&l, "prelude.dp", NULL);
    vec_push(s->arena, &out->list, whole);
    for (uint32_t i = 0; i < n; i++) {
        files[i] = load_part(&l, &parts[i]);
        ndefs += files[i]->module->ndefs;
    }
    whole->is_open = true;
    whole->file = n ? files[n - 1]->module->file : 0;
    whole->defs = arena_array(s->arena, Def *, ndefs);
    for (uint32_t i = 0; i < n; i++) {
        load_imports(&l, files[i]);
        add_part(whole, files[i]->module);
    }
}

/* ---- programs ---- */

void load_program_text(Session *s, const char *path, const char *text, size_t n, AstIds *ids, ModuleList *out)
{
    Loader l = {.s = s, .ids = ids, .out = out};
    load_from_library(&l, "prelude.dp", NULL);
    LoadedFile *f = add_file(&l, intern_cstr(s, path), source_add_text(s, path, text, n, false), NULL);
    f->on_disk = true; /* or could be: its imports are files beside it */
    load_imports(&l, f);
}

bool load_program(Session *s, const char *path, AstIds *ids, ModuleList *out, const char **why)
{
    Loader l = {.s = s, .ids = ids, .out = out};
    struct stat st = {0};
    load_from_library(&l, "prelude.dp", NULL);
    stat(path, &st); /* reading it says what is wrong */
    return load_from_disk(&l, intern_cstr(s, path), &st, NULL, why) != NULL;
}
