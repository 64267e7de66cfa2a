#include "driver/in_process.h"

#include "opencl/program.h"

typedef struct PlanProcess {
    const Compilation *c;
    char **argv;
} PlanProcess;

static int run_program(void *data)
{
    const PlanProcess *p = data;
    int argc = 0;
    while (p->argv[argc])
        argc++;
    DpProgram program = *opencl_program(p->c->plan, p->c->path);
    program.tune = p->c->tune;
    return dp_main(argc, p->argv, &program);
}

int run_in_process(const Compilation *c, char **argv, ProcessOptions options)
{
    PlanProcess p = {c, argv};
    return process_call(run_program, &p, options);
}
