#include "types/check_internal.h"

#include <string.h>

/* What names of other languages are called here. */

typedef struct Habit {
    const char *names; /* separated by blanks */
    const char *note;
} Habit;

static const Habit names[] = {
    {"and or", "the logical operators are `&&`, `||` and `!`"},
    {"xor", "`^` is exclusive or on integers, `!=` on bool"},
    {"mod rem", "the remainder is `a % b`"},
    {"div quot", "the division is `a / b`; on integers it truncates toward zero"},
    {"fn fun lambda", "a function without a name is `\\x -> e`"},
    {"end", "nothing ends an expression, there is no `end`; the last element is `last xs`"},
    {"elif elsif", "it is written `else if`"},
    {"return", "a function's result is its body: there is no `return`"},
    {"where", "`let x = e in …` names values in front of their use; a choice for each element is "
              "`{ if c then x else y : c in cs; x in xs; y in ys }`"},
    {"True", "it is written `true`"},
    {"False", "it is written `false`"},
    {"otherwise", "it is written `else`, and in a `match` `case _`"},
    {"None", "there is no null value: use a sum type, as `#some x | #none`"},
    {"null",
     "there is no null value: use a sum type, as `#some x | #none`; whether a sequence is empty is `is_empty xs`"},
    {"nil", "there is no null value: use a sum type, as `#some x | #none`; the empty sequence is `[]`"},
    {"len size", "the length of a sequence is `length xs`"},
    {"count_if", "it is called `count`"},
    {"range arange", "a range is `a..<b`; `iota n` is `0..<n`"},
    {"foldl foldr fold foldl' foldl1 foldr1 inject",
     "`reduce op neutral xs` is parallel, `loop acc = e for x in xs do …` goes from the left"},
    {"redomap", "`reduce` over an apply-to-each is fused: `reduce op neutral { f x : x in xs }`"},
    {"zipWith zip_with", "it is called `map2`"},
    {"concatMap flatMap flat_map concat_map", "it is `flatten { f x : x in xs }`"},
    {"copy clone deepcopy", "values never change, so that nothing has to be copied"},
    {"elem member includes", "whether x is in xs is `any (== x) xs`"},
    {"zeros ones full fill empty dist", "n times x is `replicate n x`"},
    {"linspace", "n numbers from a to b are `{ a + (b - a) * f64 i / f64 (n - 1) : i in n }`"},
    {"cumsum prefix_sum accumulate scanl scanl1", "`scan (+) 0 xs` includes each element, `scanx (+) 0 xs` does not"},
    {"cumprod", "it is `scan (*) 1 xs`"},
    {"even", "it is written `x % 2 == 0`, and as a function `\\x -> x % 2 == 0`"},
    {"odd", "it is written `x % 2 != 0`, and as a function `\\x -> x % 2 != 0`"},
    {"nub distinct", "`unique xs` has each element once, sorted"},
    {"group", "`group_by f xs` groups by keys, `run_lengths xs` counts equal neighbours"},
    {"show str toString to_string sprintf",
     "`import \"text\"` has it for integers, `format_int x`, and for floats, `format_fixed digits x`"},
    {"read parse parseInt atoi",
     "`import \"text\"` has it for integers, `parse_int s`, and for floats, `parse_float s`"},
    {"std stddev stdev", "it is `sqrt (variance xs)`"},
    {"eye", "`import \"linalg\"` has it: `identity n`"},
    {"shape", "the lengths are `length xss` and `length xss[0]`"},
    {"append push snoc", "`xs ++ [x]` has one element more"},
    {"cons", "`[x] ++ xs` has x in front"},
    {"pmap parallel_map par_map par parallel pfor", "`map f xs` and `{ e : x in xs }` are parallel as they are"},
    {"foreach forEach for_each mapM_", "every element is written `{ e : x in xs }`"},
    {"mapi imap", "it is `{ f i x : (i, x) in enumerate xs }`"},
    {"concatenate vstack hstack extend", "`xs ++ ys` joins two sequences, `flatten xss` all of a sequence"},
    {"pack compress", "it is `{ x : x in xs; f in flags | f }`"},
    {"max_reduce amax", "it is called `maximum`"},
    {"min_reduce amin", "it is called `minimum`"},
    {"prod", "it is called `product`"},
    {"average avg", "it is called `mean`"},
    {"id", "it is written `\\x -> x`"},
    {"flip", "`reverse xs` turns a sequence around, `\\x y -> f y x` swaps arguments"},
    {"uncurry", "it is written `\\(x, y) -> f x y`"},
    {"curry", "it is written `\\x y -> f (x, y)`"},
    {"succ", "it is written `x + 1`"},
    {"pred", "it is written `x - 1`"},
    {"square sqr", "it is written `x * x`"},
    {"fabs", "it is called `abs`"},
    {"ceiling", "it is called `ceil`"},
    {"ln", "it is called `log`"},
    {"signum", "it is called `sign`"},
    {"power expt", "it is written `x ** y`"},
    {"truncate", "it is called `trunc`; `i64 x` makes an integer of a float"},
    {"infinity Infinity INFINITY", "it is called `inf`"},
    {"NaN NAN", "it is called `nan`"},
    {"PI M_PI", "it is called `pi`"},
    {"INT_MAX maxBound", "the largest integers are `max_i32`, `max_i64` and so on"},
    {"INT_MIN minBound", "the smallest integers are `min_i32`, `min_i64` and so on"},
    {"first car", "the first element is `head xs` or `xs[0]`"},
    {"rest cdr", "it is called `tail`"},
    {"nth get at", "an element is `xs[i]`"},
    {"every all_of", "it is called `all`"},
    {"some any_of", "it is called `any`"},
    {"takeWhile take_while", "it is `(span p xs).0`"},
    {"dropWhile drop_while", "it is `(span p xs).1`"},
    {"splitAt", "it is `(take n xs, drop n xs)`"},
    {"reshape", "`unflatten n m xs` makes n rows of m elements, `flatten xss` one sequence of all"},
    {"nonzero argwhere findIndex indexOf", "the positions of x are `{ i : i in length xs; y in xs | y == x }`"},
    {"diff", "it is `{ y - x : (x, y) in pairs xs }`"},
    {"bincount", "it is called `histogram`"},
    {"rev reversed fliplr", "it is called `reverse`"},
    {"ifelse cond select ifThenElse", "a choice is `if c then a else b`"},
    {"chr ord", "a character is a `u8`: `u8 n` and `i64 c` convert"},
    {"is", "equality is written `==`"},
    {"as", "a value is converted by a type's name in front: `f64 x`"},
    {"rand random randn", "random numbers come from a seed: `import \"random\"`"},
    {"iterate until", "a loop is `loop x = e for i < n do …` or `loop x = e while c do …`"},
    {"input argv stdin readline getLine", "what a program reads are the parameters of its `entry`"},
    {"println putStrLn echo puts console trace print printf", "a program has no effects: what `main` gives is printed"},
    {"raise throw panic undefined abort fail error",
     "`assert condition value` stops the program where the condition is false"},
    {"self this", "there are no objects: what a function works on is a parameter"},
    {"list array vec", "an array is written `[a, b, c]`"},
    {"iter into_iter collect", "apply-to-each and functions take sequences as they are: `{ e : x in xs }`, `sum xs`"},
    {"dict", "sequences of keys and values are in `import \"maps\"`"},
    {"hist", "it is called `reduce_by_index`, and for counts `histogram`"},
    {"indices", "they are `0..<length xs`"},
    {"plus_reduce", "it is called `sum`"},
    {"plus_scan", "it is `scanx (+) 0 xs`; `scan` includes each element"},
    {"float double", "conversions are called like the types: `f64 x`, `f32 x`"},
    {"int", "conversions are called like the types: `i64 x`, `i32 x`"},
    {"fromIntegral", "conversions are called like the types: `f64 x`, `i32 x`"},
};

static const Habit types[] = {
    {"int Int integer long uint Integer", "the integer types are `i8 i16 i32 i64` and `u8 u16 u32 u64`"},
    {"usize size_t", "the integer types are `i8 i16 i32 i64` and `u8 u16 u32 u64`; lengths are `i64`"},
    {"byte", "a byte is `u8`"},
    {"char Char", "a character is `u8`"},
    {"float Float double Double real", "the float types are `f32` and `f64`"},
    {"Bool boolean", "it is written `bool`"},
    {"string String str", "a string is `[u8]`"},
    {"unit void", "it is written `()`"},
    {"Maybe Option Optional option maybe",
     "a value that may be missing has a sum type: `type option 'a = #some a | #none`"},
    {"Vec List list Array array vector Vector", "a sequence of t is `[t]`"},
    {"number", "the number types are `f32 f64`, `i8 i16 i32 i64` and `u8 u16 u32 u64`"},
    {"int64 Int64", "it is written `i64`"},
    {"int32 Int32", "it is written `i32`"},
    {"uint8", "it is written `u8`"},
    {"uint32", "it is written `u32`"},
    {"uint64", "it is written `u64`"},
    {"float32 Float32", "it is written `f32`"},
    {"float64 Float64", "it is written `f64`"},
};

static bool lists(const char *list, Name name)
{
    size_t n = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name)) {
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    }
    return false;
}

static bool note_habit(Session *s, const Habit *habits, size_t n, Name name)
{
    for (size_t i = 0; i < n; i++) {
        if (!lists(habits[i].names, name))
            continue;
        diag_note_text(s, "%s", habits[i].note);
        return true;
    }
    return false;
}

bool note_foreign_name(Session *s, Name name) { return note_habit(s, names, sizeof names / sizeof *names, name); }

bool note_foreign_type(Session *s, Name name) { return note_habit(s, types, sizeof types / sizeof *types, name); }
