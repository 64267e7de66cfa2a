#include "types/check_internal.h"

#include <string.h>

/* What names of other languages are called here. */

typedef struct Habit {
    const char *name, *note;
} Habit;

static const Habit names[] = {
    {"and", "the logical operators are `&&`, `||` and `!`"},
    {"or", "the logical operators are `&&`, `||` and `!`"},
    {"xor", "`^` is exclusive or on integers, `!=` on bool"},
    {"mod", "the remainder is `a % b`"},
    {"rem", "the remainder is `a % b`"},
    {"div", "the division is `a / b`; on integers it truncates toward zero"},
    {"quot", "the division is `a / b`; on integers it truncates toward zero"},
    {"fn", "a function without a name is `\\x -> e`"},
    {"fun", "a function without a name is `\\x -> e`"},
    {"lambda", "a function without a name is `\\x -> e`"},
    {"end", "nothing ends an expression: there is no `end`"},
    {"elif", "it is written `else if`"},
    {"elsif", "it is written `else if`"},
    {"return", "a function's result is its body: there is no `return`"},
    {"where", "there is no `where`: `let x = e in …` names values in front of their use"},
    {"True", "it is written `true`"},
    {"False", "it is written `false`"},
    {"otherwise", "it is written `else`, and in a `match` `case _`"},
    {"None", "there is no null value: use a sum type, as `#some x | #none`"},
    {"null", "there is no null value: use a sum type, as `#some x | #none`"},
    {"nil", "there is no null value: use a sum type, as `#some x | #none`; the empty sequence is `[]`"},
    {"len", "the length of a sequence is `length xs`"},
    {"size", "the length of a sequence is `length xs`"},
    {"count_if", "it is called `count`"},
    {"range", "a range is `a..<b`; `iota n` is `0..<n`"},
    {"foldl", "`reduce op neutral xs` is parallel, `loop acc = e for x in xs do …` goes from the left"},
    {"foldr", "`reduce op neutral xs` is parallel, `loop acc = e for x in xs do …` goes from the left"},
    {"fold", "`reduce op neutral xs` is parallel, `loop acc = e for x in xs do …` goes from the left"},
    {"redomap", "`reduce` over an apply-to-each is fused: `reduce op neutral { f x : x in xs }`"},
    {"zipWith", "it is called `map2`"},
    {"concatMap", "it is `flatten { f x : x in xs }`"},
    {"hist", "it is called `reduce_by_index`, and for counts `histogram`"},
    {"indices", "they are `0..<length xs`"},
    {"plus_reduce", "it is called `sum`"},
    {"plus_scan", "it is `scanx (+) 0 xs`; `scan` includes each element"},
    {"float", "conversions are called like the types: `f64 x`, `f32 x`"},
    {"double", "conversions are called like the types: `f64 x`, `f32 x`"},
    {"int", "conversions are called like the types: `i64 x`, `i32 x`"},
    {"fromIntegral", "conversions are called like the types: `f64 x`, `i32 x`"},
    {"print", "a program has no effects: what `main` gives is printed"},
    {"printf", "a program has no effects: what `main` gives is printed"},
    {"error", "`assert condition value` stops the program where the condition is false"},
};

static const Habit types[] = {
    {"int", "the integer types are `i8 i16 i32 i64` and `u8 u16 u32 u64`"},
    {"Int", "the integer types are `i8 i16 i32 i64` and `u8 u16 u32 u64`"},
    {"integer", "the integer types are `i8 i16 i32 i64` and `u8 u16 u32 u64`"},
    {"long", "the integer types are `i8 i16 i32 i64` and `u8 u16 u32 u64`"},
    {"uint", "the integer types are `i8 i16 i32 i64` and `u8 u16 u32 u64`"},
    {"usize", "the integer types are `i8 i16 i32 i64` and `u8 u16 u32 u64`; lengths are `i64`"},
    {"byte", "a byte is `u8`"},
    {"char", "a character is `u8`"},
    {"Char", "a character is `u8`"},
    {"float", "the float types are `f32` and `f64`"},
    {"Float", "the float types are `f32` and `f64`"},
    {"double", "the float types are `f32` and `f64`"},
    {"Double", "the float types are `f32` and `f64`"},
    {"real", "the float types are `f32` and `f64`"},
    {"Bool", "it is written `bool`"},
    {"boolean", "it is written `bool`"},
    {"string", "a string is `[u8]`"},
    {"String", "a string is `[u8]`"},
    {"str", "a string is `[u8]`"},
    {"unit", "it is written `()`"},
    {"void", "it is written `()`"},
};

static bool note_habit(Session *s, const Habit *habits, size_t n, Name name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(habits[i].name, name) != 0)
            continue;
        diag_note_text(s, "%s", habits[i].note);
        return true;
    }
    return false;
}

bool note_foreign_name(Session *s, Name name)
{
    return note_habit(s, names, sizeof names / sizeof *names, name);
}

bool note_foreign_type(Session *s, Name name)
{
    return note_habit(s, types, sizeof types / sizeof *types, name);
}
