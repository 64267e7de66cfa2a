/* Shared by the files that make a loop with a stack of a recursive function: stack_loops.c (functions, and other calls
 * in them), stack_threads.c (arrays that calls change), stack_points.c (a function is cut into points), stack_rounds.c
 * (points become rounds of a loop). */
#ifndef DPC_STACK_LOOPS_INTERNAL_H
#define DPC_STACK_LOOPS_INTERNAL_H

#include "core/build.h"
#include "core/stack_loops.h"

/* STATEMENTS: of what a function becomes; POINTS: of one function; FRAMES, KEPT elements: for which there is room at
 * first; REPEATED: statements without calls behind a branch that its ways repeat, rather than meet there. ELEMENTS: of
 * operations that scalar code may have; ARGUMENTS: of the arrays that a call is given, where launches would take longer
 * than one lane. ITEMS: of literals. */
enum {
    FEW_ELEMENTS = 64,
    MOST_STATEMENTS = 2000,
    MOST_POINTS = 100,
    FIRST_FRAMES = 32,
    FIRST_KEPT = 128,
    FRAMES_BY_VALUE = 4,
    MOST_REPEATED = 6,
    MOST_THREADS = 8,
    MOST_ITEMS = 16
};

/* Values lie in registers by their types, arrays up to this rank, too; in the stack, as i64, and as f32 where that is
 * all floats there are, else f64. */
enum { MOST_RANK = 2, REGISTER_FILES = (MOST_RANK + 1) * SCALAR_COUNT };
typedef enum StackPart { PART_INTEGERS, PART_FLOATS, PART_COUNT } StackPart;

typedef VEC(CoreVar) CoreVars;

/* An array that calls change: which parameter and result; what it is in the loop's state. */
typedef struct Thread {
    uint32_t param, result;
    CoreVar now;
} Thread;

typedef struct Point Point;
typedef struct Rest Rest;

/* What is executed behind a statement: the others of its block, then what is behind that block. */
struct Rest {
    const CoreBlock *block;
    uint32_t from;
    const CoreVar *vars; /* what the block's results are behind it, and there, */
    const Rest *behind;  /* unless these are the function's (NULL), or */
    Point *meets;        /* the point is where the block's ways meet, or the loop whose body it is */
};

struct Point {
    uint32_t number;
    const CoreStmt *loop; /* whose rounds begin here, or NULL */
    const CoreVar *given; /* in registers, first: what a call, a branch or a round gives */
    uint32_t ngiven;
    bool framed;                    /* `read` lies in the frame; else in registers, behind what is given */
    CoreVars read;                  /* what is read of before */
    CoreVars slots;                 /* framed: what these are here, of arrays the lengths */
    CoreVars parts;                 /* arrays that are parts of others, found anew */
    CoreVar versions[MOST_THREADS]; /* of the threads, 1 + the variable that is read; 0: none */
    Rest rest;
    CoreBlock *code;
};

/* How a point ends: by a branch, or by going on elsewhere. */
typedef struct Exit {
    CoreBlock *block;
    CoreStmt *branch;   /* or NULL */
    const Point *to;    /* NULL: it returns */
    const Point *frame; /* the point of the frame that is pushed, or NULL */
    bool popped;
    CoreAtom *values, *saved, *versions; /* versions: of the threads */
    uint32_t nvalues;
    CoreAtom top[SCALAR_COUNT]; /* of the arrays that are kept, behind what was popped */
} Exit;

typedef struct Machine {
    CoreProgram *p;
    Arena *scratch;
    const CoreFn *self;
    CoreFn *from, *fn; /* a copy of the function, without other calls; what it becomes */
    CoreBuilder b;     /* of fn */
    CoreAtom *map;     /* by variable of `from`: what it is in fn, at this place */
    CoreStmt **parts;  /* by variable: an array that is a part of another, which this makes; or NULL */
    bool *fixed;       /* a parameter that all calls hand on as it is */
    uint32_t *thread;  /* by variable: 1 + the thread that it is a version of, or 0 */
    Thread threads[MOST_THREADS];
    uint32_t nthreads;
    uint32_t *bound, *seen, stamp;
    uint32_t statements;
    bool impossible, popped;
    VEC(Point *) points;
    VEC(Exit) exits;
    CoreVars registers[REGISTER_FILES];
    uint32_t held;                                  /* the first results that are no threads, if they are arrays */
    bool by_value;                                  /* frames have arrays, too: there are no threads */
    CoreVar kept[SCALAR_COUNT], used[SCALAR_COUNT]; /* arrays of frames, one behind the other, and how many elements */
    bool keeps[SCALAR_COUNT];
    CoreAtom top[SCALAR_COUNT]; /* how many are used, at this place */
    CoreVar stacks[PART_COUNT], pc, depth;
    uint32_t sizes[PART_COUNT]; /* of a frame */
    Scalar floats;              /* of the stack */
} Machine;

static inline uint32_t file_of(CoreType type) { return type.rank * (uint32_t)SCALAR_COUNT + type.scalar; }
static inline CoreType file_type(uint32_t file)
{
    return (CoreType){(Scalar)(file % SCALAR_COUNT), (uint8_t)(file / SCALAR_COUNT)};
}
static inline StackPart part_of(Scalar s) { return scalar_is_float(s) ? PART_FLOATS : PART_INTEGERS; }
/* Of arrays, frames have the lengths. */
static inline StackPart stack_part(CoreType type) { return type.rank > 0 ? PART_INTEGERS : part_of(type.scalar); }
static inline Scalar part_scalar(const Machine *m, StackPart part) { return part == PART_FLOATS ? m->floats : SC_I64; }
static inline CoreAtom var_atom(const Machine *m, CoreVar v) { return core_var_atom(v, core_var_type(m->fn, v)); }

/* Registers for values of these types, one behind the other: a file for each type. */
typedef struct Registers {
    uint32_t used[REGISTER_FILES];
} Registers;

/* To another type of the same part. */
CoreAtom stack_convert(Machine *m, CoreAtom a, Scalar to);
/* Is this result of the function in a register, as no thread gives it? */
bool stack_in_register(const Machine *m, uint32_t result);
/* Is there a call of fn in it? */
bool stack_calls(const CoreFn *fn, const CoreStmt *s);
/* By variable: the parameters that all calls hand on as they are. */
void stack_note_fixed(const CoreFn *from, bool *fixed);
/* Makes parameters that calls change, and give back to nobody, further results of the function, which has no other
 * calls than of `self`; are there any? `held`: so many first results are nobody's parameters. False: that is not
 * possible, and the function is of no use any more. */
bool stack_undo(CoreProgram *p, const CoreFn *self, CoreFn *fn, uint32_t held, Arena *scratch, bool *undone);
/* The parameter that an array among the results is what becomes of, of those that are not taken; nparams: none. */
uint32_t stack_find_param(const CoreFn *fn, uint32_t result, const bool *fixed, const bool *taken, Arena *scratch);
/* The threads, and their versions. */
void stack_find_threads(Machine *m);
/* The first point, which the function's parameters are given. */
void stack_first_point(Machine *m, const CoreVar *given, uint32_t ngiven);
/* The code of all points, and how they end. */
void stack_emit_points(Machine *m);
/* The function's body, from them. */
void stack_build_loops(Machine *m);

#endif
