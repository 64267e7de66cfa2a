// dpc.hpp, over a library of `dpc library`, and over a program that is compiled when it runs.
#include "forms.h"

#include <dpc.hpp>

#include <iostream>

static void expect(bool holds, const char *what)
{
    if (!holds)
        throw std::logic_error(what);
}
#define EXPECT(x) expect((x), #x)

static void use(dpc::Context &context)
{
    const std::vector<float> xs{1, 2, 3};
    EXPECT(context.call("norm", xs).scalar<float>() == 14);
    EXPECT(context.call("scaled", dpc::array(std::vector<double>{1, 2, 3, 4}, {2, 2}), 2.0).text() ==
           "[[2.0, 4.0], [6.0, 8.0]]");
    dpc::Value stays = context.call_device("tails", dpc::literal("[[i32]]", "[[1, 2], [3]]"));
    dpc::Value twice = context.call("tails", stays);
    EXPECT(twice.numbers<int32_t>().size() == 0 && twice.leaf().lengths[0][0] == 2);
    stays.fetch();
    EXPECT(stays.text() == "[[2], []]");
    try {
        context.call("first", std::vector<int64_t>{1}, int64_t{5});
        EXPECT(false);
    } catch (const dpc::Error &e) {
        EXPECT(e.status == 1 && std::string(e.what()).find("index 5 out of bounds") != std::string::npos);
    }
    float sum = 0;
    dpc::Outcome outcome;
    EXPECT(forms_norm(context.get(), xs.data(), xs.size(), &sum, outcome) && sum == 14);
}

int main(int, char **argv)
try {
    dpc::Context context(forms_program());
    use(context);
#ifndef DPC_WITHOUT_COMPILER
    const dpc::Program program = dpc::compile_file(argv[1]);
    dpc::Context compiled(program);
    EXPECT(compiled.call("norm", std::vector<float>{2}).scalar<float>() == 4);
#else
    (void)argv;
#endif
    std::cout << "all right\n";
} catch (const std::exception &e) {
    std::cout << "FAILED: " << e.what() << '\n';
    return 1;
}
