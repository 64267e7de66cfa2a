/* Appends, as the elaborator writes left ++ right and as core_as_append knows them:
 *
 *     n = length left;  m = size_add n, length right
 *     map m at i () { if i < n then { -> left[i] } else { j = i - n; -> right[j] } }          */
#ifndef DPC_APPEND_H
#define DPC_APPEND_H

#include "core/build.h"

/* Result k of the map is left ++ right: a map without inputs that asks of each position whether it is below `length`,
 * that of the left side. False: it is none. */
typedef struct CoreAppend {
    CoreAtom left, right, length;
} CoreAppend;
bool core_as_append(const CoreStmt *map, uint32_t k, CoreAppend *append);
/* The map's results are lefts ++ what this block computes of places, the first of which its first statement binds; or
 * NULL. append->left is the last one. */
CoreBlock *core_as_open_append(CoreStmt *map, CoreAppend *append);
/* An array of n: the first `length` elements of xs, then ys, or, without ys, anything. */
CoreAtom build_append(CoreBuilder *b, CoreAtom n, CoreAtom xs, CoreAtom length, const CoreAtom *ys);
/* xs ++ the first `more` of ys. */
CoreAtom build_appended(CoreBuilder *b, CoreAtom xs, CoreAtom ys, CoreAtom more);

/* The buffer, of which `used` elements are, or, where it has fewer than `needed`, these in one of twice as many. */
CoreAtom build_room_for(CoreBuilder *b, CoreAtom buffer, CoreAtom used, CoreAtom needed);
/* The buffer with the n elements of xs from one on; it has room for them. */
CoreAtom build_stored(CoreBuilder *b, CoreAtom buffer, CoreAtom from, CoreAtom xs, CoreAtom n);
/* The length of what the statement makes, a literal, a map or a scan, if it shows. */
bool core_shown_length(const CoreStmt *s, CoreAtom *n);

/* By which statement a pass has seen a variable made; those of nobody or made since: NULL. */
typedef struct CoreMakers {
    CoreStmt **at;
    uint32_t n;
} CoreMakers;
CoreMakers core_makers_of(const CoreFn *fn, Arena *scratch);
static inline CoreStmt *core_maker(const CoreMakers *m, CoreAtom a)
{
    return a.is_const || a.var >= m->n ? NULL : m->at[a.var];
}
/* Which of the function's parameters does the array begin as, by updates, appends, slices, branches and loops? nparams:
 * that does not show. */
uint32_t core_param_behind(const CoreFn *fn, CoreAtom a, Arena *scratch);
/* How many more elements the domain has than `length`, where that shows. */
bool core_append_more(const CoreMakers *m, CoreAtom domain, CoreAtom length, CoreAtom *more);
/* Is n the length of all of the array, not of its first elements? */
bool core_is_length(const CoreMakers *m, CoreAtom xs, CoreAtom n);

#endif
