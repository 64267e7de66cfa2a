/* The plan: what the host does, as straight-line instructions over virtual registers, with structured `if`, `loop` and
 * call. Made from flat (lower.c), completed with ownership (lifetime.c), checked (check.c), printed (print.c); executed
 * in process (run.c), or printed as the C host program (opencl/host_c.h).
 *
 * INSTRUCTIONS are described by one table, plan_ops.def: what operands they have, which they take, and the call of the
 * runtime (runtime/include/dp_rt.h) that each stands for.
 *
 * REGISTERS hold what the host holds: scalars, arrays, columns, contexts, reference sets. They are variables: a loop's
 * state is written anew in each round. A register belongs to the block that declares it.
 *
 * OWNERSHIP. Arrays, columns, contexts and reference sets own a reference (a level of a recursion owns its place on the
 * runtime's list). A register that owns one is released, or what it holds is taken by an instruction, exactly once on
 * every path; a register that is written holds nothing before. Functions own their parameters and give away their
 * results. lower.c leaves this out: it writes "retain" for copies, uses whatever it likes, and releases nothing.
 * lifetime.c finds each register's last use, and makes of it a move, a taking, or a release behind it.
 *
 * Example: entry main (xs: [f32]) : f32 = sum xs
 *
 *     fn main (a0_xs : [f32]) -> (s4 : f32)
 *       s1 = length a0_xs
 *       x2 = nested s1
 *       p3 = reduce 0 x2 (address a0_xs)
 *       release a0_xs
 *       release x2
 *       (s5) = await p3                            -- reads back
 *       s4 = set s5
 *
 * WHAT THE HOST WAITS FOR (sizes of contexts, results at depth 0, elements) is begun by one instruction and awaited by
 * another, which has what it gave. An await waits for all that has been begun, so that several share a read-back. */
#ifndef DPC_PLAN_H
#define DPC_PLAN_H

#include "plan/kernel.h"

typedef uint32_t PlanReg;
#define PLAN_NO_REG UINT32_MAX

typedef enum PlanType {
    PLAN_SCALAR,
    PLAN_ARR,
    PLAN_COL,
    PLAN_CTX,
    PLAN_REFS,
    PLAN_LIMIT,
    PLAN_LEVEL,
    PLAN_PENDING
} PlanType;

typedef struct PlanRegInfo {
    PlanType type;
    CoreType core; /* SCALAR, ARR: the type; COL: of its elements */
    const char *hint;
} PlanRegInfo;

typedef enum PlanOp {
#define PLAN_OP(NAME, text, operands, effects, ...) PLAN_OP_##NAME,
#include "plan/plan_ops.def"
#undef PLAN_OP
    PLAN_OP_COUNT
} PlanOp;

enum {
    PLAN_ALLOCATES = 1,
    PLAN_READS_BACK = 2,
    PLAN_FAILS = 4,
    PLAN_LAUNCHES = 8,
    PLAN_CONTROL = 16,
    PLAN_ORDERED = 32
};

typedef struct PlanOpInfo {
    const char *name, *operands;
    uint32_t effects; /* PLAN_… */
    const char *call; /* its text */
} PlanOpInfo;
extern const PlanOpInfo plan_ops[PLAN_OP_COUNT];

typedef enum PlanOperandKind { OPERAND_REG, OPERAND_CONST, OPERAND_NUMBER, OPERAND_TEXT, OPERAND_LIST } PlanOperandKind;
typedef struct PlanOperand PlanOperand;
struct PlanOperand {
    PlanOperandKind kind;
    Scalar scalar; /* CONST */
    bool given;    /* REG of a ^ operand: it may be written over */
    union {
        PlanReg reg;
        uint64_t bits; /* CONST (as core's), NUMBER */
        const char *text;
        struct {
            PlanOperand *at;
            uint32_t n;
        } list;
    };
};

/* An argument word of a launch, as in kernel.h, in registers. */
typedef struct PlanArgument {
    PlanWordKind kind;
    PlanOperand value; /* SCALAR … VIEWS */
    PlanReg from, to;  /* contexts; PATH: both; ELEMS, VIEWS, OFFSETS: `to`; else PLAN_NO_REG */
    uint32_t bytes;    /* ELEMS: of an element */
    uint32_t level;    /* ROWS */
    uint32_t bit;      /* ELEMS, PATH, ROWS: of the variant, or PLAN_NO_BIT */
    uint32_t unless; /* OFFSETS, PATH, ADDRESS (of views: that these are written): not needed where the variant has all
                        of these bits; 0: always needed */
} PlanArgument;

typedef struct PlanBlock PlanBlock;
typedef struct PlanFn PlanFn;

typedef struct PlanInstr {
    PlanOp op;
    Span span;
    PlanOperand *args;
    uint32_t nargs;
    PlanArgument *words; /* LAUNCHES */
    uint32_t nwords;
    CorePrim prim;        /* PRIM */
    PlanFn *fn;           /* CALL */
    PlanBlock *blocks[2]; /* IF, LOOP */
} PlanInstr;

struct PlanBlock {
    VEC(PlanInstr *) instrs;
    VEC(PlanReg) regs; /* that it declares */
};

struct PlanFn {
    struct Plan *plan;
    const char *name;
    uint32_t index;
    PlanReg *params, *results;
    uint32_t nparams, nresults;
    PlanBlock *body;
    VEC(PlanRegInfo) regs;
};

struct Plan {
    Arena *arena;
    const FlatProgram *program; /* entries, and what kernels are made of */
    VEC(PlanKernel *) kernels;
    VEC(PlanFn *) fns;   /* by the index of the flat function */
    VEC(Span) places;    /* of AT: numbers behind those of core's sites */
    PlanAround *around;  /* by file: the definition that was looked up last */
    struct Trace *trace; /* where plan_run writes what its next run does (docs/traces.md), or NULL */
};

/* In the program's arena. NULL after a diagnostic: it needs more than kernels offer. */
Plan *plan_lower(const FlatProgram *p);
/* What the device may check is not read back for that (device_checks.c). On what plan_lower made. */
void plan_check_on_device(Plan *plan);
/* Sizes of packs that nobody needs are not waited for. On what plan_lower made. */
void plan_pack_views(Plan *plan);
/* Reads several numbers at once where that can be. Behind it. */
void plan_batch_reads(Plan *plan);
/* Once, behind it. */
void plan_lifetimes(Plan *plan);
/* Operands as the table has them, registers written before they are read, and ownership as said above. Prints the first
 * problem into `why` and returns false. */
bool plan_check(const Plan *plan, StrBuf *why);
/* `dump --stage=plan` */
void plan_print(StrBuf *out, const Plan *plan);
/* --remarks: what became of each line of the program (docs/tools.md), as text or as an object of JSON a line. */
void plan_remarks(StrBuf *out, Plan *plan, bool json);

/* ---- operands ---- */
/* A register's name: "a3_xs". */
/* An instruction's line as in plan_print, and those of its words and blocks. */
void plan_print_instr(StrBuf *out, const Plan *plan, const PlanFn *fn, const PlanInstr *in);
void plan_reg_name(StrBuf *out, const PlanFn *fn, PlanReg r);
static inline bool plan_owns(PlanType t) { return t != PLAN_SCALAR && t != PLAN_LIMIT; }

/* The line of the source that the instruction comes from; 0: none. */
uint32_t plan_line(const Plan *plan, const PlanInstr *in);

/* Calls f for each operand that is no list, with how it is used (the letters of plan_ops.def) and what is wanted, in
 * the order of the table; then for those of the words. */
typedef struct PlanUse {
    char mode, type;
} PlanUse;
void plan_operands(const PlanInstr *in, void (*f)(void *ctx, PlanOperand *o, PlanUse use), void *ctx);

/* Words of the mailbox that the instruction's pending number takes; 0: it begins none. What is pending at a time takes
 * at most PLAN_MOST_PENDING. The same numbers as in dp_rt.h. */
enum { PLAN_MOST_PENDING = 208, PLAN_PENDING_LENGTHS = 3 };
uint32_t plan_pending_words(const Plan *plan, const PlanInstr *in);
/* What it awaits; PLAN_NO_REG: nothing. */
PlanReg plan_awaited(const PlanInstr *in);
/* Of MANY: the number of the parameter (params.h) that says from how many instances on. */
unsigned plan_many_param(const PlanInstr *in);
/* Are there reductions that share what they read, so that their length counts, too (PARAM_NEST_SHARED)? */
bool plan_many_shares(const PlanInstr *in);

/* The list of what it writes, if it writes a list; else NULL. */
const PlanOperand *plan_outs(const PlanInstr *in);

/* ---- running (run.c) ---- */
struct DpRt;
union DpArg;
/* Runs the function of an entry: the arguments are taken, the results given (dp_rt.h). */
void plan_run(const PlanFn *fn, struct DpRt *rt, union DpArg *args, union DpArg *results);

#endif
