/* From a program's text to core, for tests that run it. Include cmocka.h's friends before. */
#ifndef COMPILE_TEXT_H
#define COMPILE_TEXT_H

#include "core/passes.h"
#include "syntax/load.h"

#include <stdlib.h>
#include <unistd.h>

/* The checked program; NULL after errors. It may import modules of the library. */
static inline Checked *check_text(Session *s, const char *program)
{
    AstIds ids = {0};
    ModuleList modules = {0};
    const char *why = NULL;
    char folder[] = "/tmp/test_text_XXXXXX", path[64]; /* where nothing lies beside it that it could import */
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/test.dp", folder);
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(program, file) >= 0 && fclose(file) == 0);
    assert_true(load_program(s, path, &ids, &modules, &why));
    unlink(path);
    rmdir(folder);
    return s->error_count ? NULL : check_program(s, modules.list.at, modules.list.n, &ids);
}

static inline CoreProgram *compile_text(Session *s, const char *program)
{
    Checked *checked = check_text(s, program);
    CoreProgram *p = checked && !s->error_count ? elaborate(s, checked) : NULL;
    diag_print(s, stderr, false);
    assert_non_null(p);
    core_simplify(p);
    core_inline(p);
    core_merge_recursion(p);
    core_tail_loops(p);
    core_inline(p);
    core_simplify(p);
    return p;
}

#endif
