#include "driver/in_process.h"

#include "opencl/program.h"

typedef struct PlanProcess {
    const Compilation *c;
    char **argv;
    int (*main)(int argc, char **argv, const DpProgram *program);
} PlanProcess;

static int run_program(void *data)
{
    const PlanProcess *p = data;
    int argc = 0;
    while (p->argv[argc])
        argc++;
    DpProgram program = *opencl_program(p->c->plan, p->c->path);
    program.tune = p->c->tune;
    return p->main(argc, p->argv, &program);
}

int run_in_process(const Compilation *c, char **argv, ProcessOptions options)
{
    PlanProcess p = {c, argv, dp_main};
    return process_call(run_program, &p, options);
}

int profile_in_process(const Compilation *c, char **argv)
{
    PlanProcess p = {c, argv, dp_profile_main};
    return process_call(run_program, &p, (ProcessOptions){0});
}
