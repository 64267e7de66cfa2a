/* Kernels that are the same but for the names of variables: a library's function that two entries call, the seven sums
 * of Strassen's product. A device's compiler takes 0.1 s and more for each kernel, so they are built once. Each keeps
 * its own name and place, by which profiles and messages call it.
 *
 * Two are the same where their key is: what the runtime is told of it, and its texts, in which variables (x7, x12_sum)
 * are numbered by where they first come, and #line is left out. */
#include "opencl/same_kernels.h"

#include "opencl/host_c_internal.h"
#include "support/ptrmap.h"
#include "support/session.h"

#include <ctype.h>
#include <string.h>

typedef struct Key {
    Session *session;
    Arena *arena;
    StrBuf text;
    PtrMap numbers; /* of variables' names, from 1 on */
    uint32_t n;
} Key;

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void add_variable(Key *key, const char *at, size_t length)
{
    const Name name = intern(key->session, at, length);
    uintptr_t number = (uintptr_t)ptrmap_get(&key->numbers, name);
    if (!number) {
        number = ++key->n;
        ptrmap_put(key->arena, &key->numbers, name, (void *)number);
    }
    strbuf_printf(&key->text, "x%u", (unsigned)number);
}

static void add_text(Key *key, const char *text)
{
    for (const char *at = text; at && *at;) {
        size_t length = 0;
        while (is_name(at[length]))
            length++;
        if (length > 1 && at[0] == 'x' && isdigit((unsigned char)at[1])) {
            add_variable(key, at, length);
        } else if (strncmp(at, "#line", 5) == 0) {
            length = strcspn(at, "\n");
        } else {
            length += length == 0;
            strbuf_addn(&key->text, at, length);
        }
        at += length;
    }
}

static Name key_of(Session *session, Arena *arena, const DpKernel *k)
{
    Key key = {.session = session, .arena = arena};
    host_kernel_facts(&key.text, k);
    add_text(&key, k->source);
    add_text(&key, k->vector);
    const Name made = intern(session, key.text.text, key.text.n);
    strbuf_free(&key.text);
    return made;
}

void same_kernels(const Plan *plan, DpKernel *kernels, uint32_t n)
{
    PtrMap first = {0};
    for (uint32_t i = 0; i < n; i++) {
        const Name key = key_of(plan->program->core->session, plan->arena, &kernels[i]);
        const DpKernel *same = ptrmap_get(&first, key);
        kernels[i].same = same ? (uint32_t)(same - kernels) + 1 : 0;
        if (!same)
            ptrmap_put(plan->arena, &first, key, &kernels[i]);
    }
}
