// DP in C++ (C++17), over dpc.h: programs, contexts and values that free themselves, and failures that are thrown.
//
//     dpc::Program program = dpc::compile("rows.dp", "entry main (m: [[f32]]) (k: f32) : [f32] = ...");
//     dpc::Context context(program);
//     dpc::Value sums = context.call("main", dpc::array(numbers, {rows, columns}), 2.0f);
//     for (float x : sums.numbers<float>()) ...
//
// Over a library of `dpc library`: dpc::Context context(geo_program()), and its typed functions with context.get().
// Values refer to numbers of the caller's, which have to stay until the value is gone. What threads may do: dpc.h.
#ifndef DPC_HPP
#define DPC_HPP

#include <dpc.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dpc {

// What went wrong, with a status as of DpcError.
class Error : public std::runtime_error {
public:
    Error(int status, const std::string &text) : std::runtime_error(text), status(status) {}
    const int status;
};

// A DpcError for calls, thrown by check.
class Outcome {
public:
    Outcome() = default;
    Outcome(const Outcome &) = delete;
    Outcome &operator=(const Outcome &) = delete;
    ~Outcome() { dpc_error_clear(&error); }
    operator DpcError *() { return &error; }
    void check(bool done) const
    {
        if (!done)
            throw Error(error.status, error.text ? error.text : "out of memory");
    }

private:
    DpcError error = {0, nullptr};
};

// The name of a scalar type in DP.
template <typename T> constexpr const char *scalar_name()
{
    static_assert(std::is_arithmetic_v<T>, "a type of numbers");
    if constexpr (std::is_same_v<T, bool>)
        return "bool";
    else if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4 ? "f32" : "f64";
    else if constexpr (std::is_signed_v<T>)
        return sizeof(T) == 1 ? "i8" : sizeof(T) == 2 ? "i16" : sizeof(T) == 4 ? "i32" : "i64";
    else
        return sizeof(T) == 1 ? "u8" : sizeof(T) == 2 ? "u16" : sizeof(T) == 4 ? "u32" : "u64";
}

// Numbers that belong to a value.
template <typename T> class Numbers {
public:
    Numbers(const T *first, std::size_t n) : first(first), n(n) {}
    const T *begin() const { return first; }
    const T *end() const { return first + n; }
    const T *data() const { return first; }
    std::size_t size() const { return n; }
    const T &operator[](std::size_t i) const { return first[i]; }

private:
    const T *first;
    std::size_t n;
};

class Value {
public:
    explicit Value(DpcValue *made) : value(made)
    {
        if (!made)
            throw Error(2, "not a value: its type or lengths are wrong, or there is no memory");
    }
    const DpcValue *get() const { return value.get(); }
    unsigned leaves() const { return dpc_leaf_count(value.get()); }
    DpcLeaf leaf(unsigned index = 0) const { return dpc_leaf(value.get(), index); }
    // Of a leaf on the host, which has this type.
    template <typename T> Numbers<T> numbers(unsigned index = 0) const
    {
        const DpcLeaf l = leaf(index);
        if (!l.scalar || std::string(l.scalar) != scalar_name<T>() || (l.count && !l.data))
            throw Error(2, std::string("the leaf is ") + (l.scalar ? l.scalar : "none") + ", or not on the host");
        return {static_cast<const T *>(l.data), static_cast<std::size_t>(l.count)};
    }
    template <typename T> T scalar(unsigned index = 0) const { return numbers<T>(index)[0]; }
    std::string text() const
    {
        std::unique_ptr<char, void (*)(void *)> made(dpc_text(value.get()), std::free);
        return made ? made.get() : throw Error(3, "out of memory, or numbers are not on the host");
    }
    // Of results of call_device.
    void fetch()
    {
        Outcome outcome;
        outcome.check(dpc_fetch(value.get(), outcome));
    }
    void copy_to(unsigned index, struct _cl_mem *buffer, std::uint64_t offset = 0) const
    {
        Outcome outcome;
        outcome.check(dpc_copy(value.get(), index, buffer, offset, outcome));
    }

private:
    struct Free {
        void operator()(DpcValue *v) const { dpc_value_free(v); }
    };
    std::unique_ptr<DpcValue, Free> value;
};

// Regular arrays, the last index fastest; without a shape a sequence of all.
template <typename T> Value array(const T *data, std::initializer_list<std::uint64_t> shape)
{
    return Value(dpc_array(scalar_name<T>(), data, static_cast<unsigned>(shape.size()), shape.begin()));
}
template <typename T> Value array(const std::vector<T> &numbers)
{
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no array");
    return array(numbers.data(), {numbers.size()});
}
template <typename T> Value array(const std::vector<T> &numbers, std::initializer_list<std::uint64_t> shape)
{
    std::uint64_t all = 1;
    for (std::uint64_t n : shape)
        all *= n;
    if (all != numbers.size())
        throw Error(2, "the shape has another number of elements");
    return array(numbers.data(), shape);
}
template <typename T>
Value buffer(struct _cl_mem *memory, std::initializer_list<std::uint64_t> shape, std::uint64_t offset = 0)
{
    const unsigned rank = static_cast<unsigned>(shape.size());
    return Value(dpc_buffer(scalar_name<T>(), memory, offset, rank, shape.begin()));
}
inline Value literal(const std::string &type, const std::string &text)
{
    Outcome outcome;
    DpcValue *made = dpc_literal(type.c_str(), text.c_str(), outcome);
    outcome.check(made);
    return Value(made);
}

#ifndef DPC_WITHOUT_COMPILER // a program that has only libraries of `dpc library`
class Program {
public:
    explicit Program(DpcProgram *made) : program(made) {}
    const DpcProgram *get() const { return program.get(); }

private:
    struct Free {
        void operator()(DpcProgram *p) const { dpc_program_free(p); }
    };
    std::unique_ptr<DpcProgram, Free> program;
};

inline Program compile(const std::string &name, const std::string &source)
{
    Outcome outcome;
    DpcProgram *made = dpc_compile(name.c_str(), source.c_str(), outcome);
    outcome.check(made);
    return Program(made);
}
inline Program compile_file(const std::string &path)
{
    Outcome outcome;
    DpcProgram *made = dpc_compile_file(path.c_str(), outcome);
    outcome.check(made);
    return Program(made);
}
#endif

// Its program has to stay.
class Context {
public:
    explicit Context(const DpcProgram *program, const DpcOptions &options = {},
                     struct _cl_command_queue *queue = nullptr)
    {
        Outcome outcome;
        context.reset(queue ? dpc_open_queue(program, queue, &options, outcome) : dpc_open(program, &options, outcome));
        outcome.check(context != nullptr);
    }
#ifndef DPC_WITHOUT_COMPILER
    explicit Context(const Program &program, const DpcOptions &options = {}, struct _cl_command_queue *queue = nullptr)
        : Context(program.get(), options, queue)
    {
    }
#endif
    DpcContext *get() const { return context.get(); }

    // Arguments: values, numbers, or vectors of these.
    template <typename... Args> Value call(const std::string &entry, const Args &...args)
    {
        return run(dpc_call, entry, Argument(args)...);
    }
    // The result stays on the device.
    template <typename... Args> Value call_device(const std::string &entry, const Args &...args)
    {
        return run(dpc_call_device, entry, Argument(args)...);
    }

private:
    // A value of the caller's, or one that is made of what lives as long as the call.
    class Argument {
    public:
        explicit Argument(const Value &v) : value(v.get()) {}
        template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
        explicit Argument(const T &number) : made(dpc_scalar(scalar_name<T>(), &number)), value(made.get())
        {
        }
        template <typename T> explicit Argument(const std::vector<T> &numbers) : Argument(array(numbers)) {}
        explicit Argument(Value &&v) : owned(std::make_unique<Value>(std::move(v))), value(owned->get()) {}
        const DpcValue *get() const { return value; }

    private:
        struct Free {
            void operator()(DpcValue *v) const { dpc_value_free(v); }
        };
        std::unique_ptr<DpcValue, Free> made;
        std::unique_ptr<Value> owned;
        const DpcValue *value;
    };
    using Call = DpcValue *(DpcContext *, const char *, const DpcValue *const *, unsigned, DpcError *);
    template <typename... Args> Value run(Call *how, const std::string &entry, const Args &...args)
    {
        const DpcValue *const all[] = {args.get()..., nullptr};
        Outcome outcome;
        DpcValue *made = how(context.get(), entry.c_str(), all, sizeof...(args), outcome);
        outcome.check(made);
        return Value(made);
    }
    struct Close {
        void operator()(DpcContext *c) const { dpc_close(c); }
    };
    std::unique_ptr<DpcContext, Close> context;
};

} // namespace dpc
#endif
