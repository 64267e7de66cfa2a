#!/bin/sh
# Files as they are, through the command line: what decides on their format, raw bytes and lines, standard input and output, the
# formats that need more than one file to be seen. By the interpreter and, where there is a device, by executables. files.sh DPC
set -u
dpc=$(realpath "$1")
corpus=$(cd "$(dirname "$0")" && pwd)/fuzz/corpus
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0

fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
}
# run ENTRY ARG…: with standard input as it is
run() {
    entry=$1
    shift
    case $maker in
        core) "$dpc" run --eval=core f.dp --entry "$entry" "$@" ;;
        *) ./f --entry "$entry" "$@" ;;
    esac
}
# gives 'BYTES' ENTRY ARG…: what is written to standard output, exactly; BYTES as for printf. Standard input is the file `in`.
gives() {
    wanted=$1
    shift
    printf "$wanted" >wanted
    run "$@" <in >got 2>err || fail "$maker: $*: $(cat err)"
    cmp -s wanted got || fail "$maker: $*
wanted: $(od -c wanted | head -5)
got: $(od -c got | head -5)"
}
# holds FILE 'BYTES'
holds() {
    printf "$2" | cmp -s - "$1" || fail "$maker: $1 must hold $2, but holds: $(od -c "$1" 2>&1 | head -5)"
}
# refuses STATUS 'TEXT' ENTRY ARG…: with this text on standard error
refuses() {
    status=$1 text=$2
    shift 2
    got=$(run "$@" 2>&1 <in)
    rc=$?
    case $got in
        *"$text"*) [ $rc -eq "$status" ] && return ;;
    esac
    fail "$maker: $*
  status $rc, wanted $status; wanted the text: $text
$got"
}
# notes 'TEXT' ENTRY ARG…: a note on standard error, and it works
notes() {
    text=$1
    shift
    run "$@" <in 2>err >/dev/null || fail "$maker: $*: $(cat err)"
    grep -qF "note: $text" err || fail "$maker: $*: no note: $text; $(cat err)"
}

cat >f.dp <<'END'
type doc = text
entry bytes (t: text) : text = reverse t
entry lines (t: [text]) : [text] = reverse t
entry plain (t: [u8]) : [u8] = reverse t
entry inferred (t: text) = reverse t
entry renamed (d: doc) : doc = d
entry two (a: text) (b: text) : i64 = 10 * length a + length b
entry mixed (n: i64) (t: text) : (i64, text) = (n, t)
entry floats (xs: [f64]) : [f64] = xs
entry pairs (xs: [(i64, f64)]) : [(i64, f64)] = xs
entry arrays (a: [i64]) : [i64] = a
entry record (r: {c: [[bool]], a: i8, b: u32}) : {c: [[bool]], a: i8, b: u32} = r
entry params (a: i8) (b: u32) (c: [[bool]]) : (i8, u32, [[bool]]) = (a, b, c)
entry other (a: i8) (q: u32) : u32 = q + u32 a
entry colour (p: [h][w](u8, u8, u8)) : (i64, i64, i64, bool) =
  let (r, g, b) = p[1][1] in (h, w, 3, r > 180 && g < 30 && b < 50)
entry gray (p: [h][w]u8) : (i64, i64, u8) = (h, w, p[0][0])
entry table (rows: [{s: text, n: i64}]) : [{s: text, n: i64}] = rows
entry matrix (m: [r][c]f64) : [[f64]] = m
END

raw_files() {
    printf 'ab\000\377\r\nc' >in
    cp in any.csv
    gives 'c\n\r\377\000ba' bytes any.csv
    gives 'c\n\r\377\000ba' bytes
    gives 'c\n\r\377\000ba' bytes -
    gives 'c\n\r\377\000ba' bytes raw:-
    gives 'ab\000\377\r\nc' renamed in
    gives 'cba' bytes '"abc"'
    gives '"cba"\n' plain '"abc"'
    gives '"cba"\n' inferred '"abc"'
    gives '"c\\n\\r\\xff\\x00ba"\n' plain raw:in
    gives 'c\nab\000\377\n' lines in
    gives 'c\nab\000\377\n' lines ./in
    gives 'b\na\n' lines '["a", "b"]'
    gives '["b", "a"]\n' lines '["a", "b"]' -o text:-
    gives '11\n' two '"a"' '"b"'
    gives '17\n' two '"a"' -
    gives '(3, "x")\n' mixed 3 '"x"'
    : >in
    gives '' bytes
    gives '' lines
    printf '"abc"' >in
    gives 'cba' bytes text:in
    gives 'cba' bytes text:-
    printf '\n\n' >in
    gives '\n\n' lines
    refuses 2 "cannot be a line of a file" lines '["a\nb"]'
    refuses 2 "cannot be a line of a file" lines '["a\r"]'
    refuses 2 "standard input: the parameter b needs it, but a has read all of it" two
    refuses 2 "the bytes of a file are a text, which is not this parameter's type" floats raw:in
    refuses 2 "the lines of a file are a sequence of texts" bytes lines:in
}

output_names() {
    : >in
    run bytes '"abc"' -o any.ending && holds any.ending cba
    run lines '["a", "b"]' -o lines.log && holds lines.log 'b\na\n'
    run lines '["a", "b"]' -o lines.csv && holds lines.csv 'b\na\n'
    run lines '["a", "b,"]' -o lines.csv && holds lines.csv '"b,"\na\n'
    run floats '[1, 2]' -o csv:any.dat && holds any.dat '1.0\n2.0\n'
    run floats '[1, 2]' -o plain && holds plain '[1.0, 2.0]\n'
    run floats '[1, 2]' -o .hidden && holds .hidden '[1.0, 2.0]\n'
    run plain '"ab"' -o raw:any.dat && holds any.dat ba
    gives '1.0\n2.0\n' floats '[1, 2]' -o csv:-
    printf '1\n2\n' >in
    gives '[1.0, 2.0]\n' floats csv:-
    rm -f bad.dat
    refuses 2 "bad.dat: no format has the ending .dat; there are .txt .in" floats '[1, 2]' -o bad.dat
    [ ! -e bad.dat ] || fail "$maker: bad.dat is there"
    refuses 2 "no format has the ending" floats nothing.txt -o bad.dat # before arguments are read
}

tables() {
    printf 'n;x;s\n1;2.5;a\n2;;"b;c"\n' >in
    gives 's\tn\na\t1\n"b;c"\t2\n' table csv:- -o tsv:-
    gives 's|n\na|1\n"b;c"|2\n' table csv:in -o 'csv|:-'
    notes "standard input: the column x is not read" table 'csv;:-'
    refuses 2 "in:1: there is no column s" table csv,:in
    printf '1,2\n3,4\n' >m.csv
    gives '[[1.0, 2.0], [3.0, 4.0]]\n' matrix m.csv
    gives '[[1.0, 2.0], [3.0, 4.0]]\n' matrix m.csv -o json:-
}

# Seeds of the fuzzers are such files, behind a byte that chooses a type.
seed() { # seed FORMAT/NAME FILE
    tail -c +2 "$corpus/$1" >"$2"
}

libraries() { # formats that need a library are refused where dpc was built without it
    : >in
    seed gz/two two.csv.gz
    if run pairs two.csv.gz 2>&1 | grep -q "without zlib"; then
        echo "no zlib: .gz is not tested"
    else
        gives '[(1, 2.0), (3, 4.0)]\n' pairs two.csv.gz
        gives '\n4,3\n2,1' bytes two.csv.gz
        run pairs two.csv.gz -o again.csv.gz && gives '[(1, 2.0), (3, 4.0)]\n' pairs csv:again.csv.gz
        seed gz/cut cut.csv.gz
        refuses 2 "cut.csv.gz: at byte 21: the gzip'd file is cut off" pairs cut.csv.gz
        { cat two.csv.gz; echo x; } >tail.csv.gz
        refuses 2 "the gzip'd file is damaged" pairs tail.csv.gz
        seed npz/one_deflated one.npz
        gives '[1, -2]\n' arrays one.npz
        seed npz/damaged bad.npz
        refuses 2 "bad.npz: " arrays bad.npz
    fi
    seed npz/wrong three.npz
    gives '{a = 3, b = 7, c = [[true, false]]}\n' record three.npz
    gives '(3, 7, [[true, false]])\n' params three.npz
    run record three.npz -o back.npz && gives '(3, 7, [[true, false]])\n' params back.npz
    refuses 2 "three.npz: expected one array, found 3" arrays three.npz
    refuses 2 "three.npz: there is no array q" other three.npz
    seed h5/deflated d.h5
    if run arrays d.h5 2>&1 | grep -qE "without libhdf5|which is not there"; then
        echo "no libhdf5: .h5 is not tested"
    else
        gives "[$(seq -s ', ' 0 99)]\n" arrays d.h5
        seed h5/latest l.h5
        gives '[1, -2]\n' arrays l.h5
        seed h5/three three.h5 # by names, as record or as parameters; there is a group, too
        gives '{a = 3, b = 7, c = [[true, false]]}\n' record three.h5
        gives '(3, 7, [[true, false]])\n' params three.h5
        run record three.h5 -o back.h5 && gives '(3, 7, [[true, false]])\n' params back.h5
        run params back.h5 -o tuple.hdf5 && gives '(3, 7, [[true, false]])\n' params tuple.hdf5
        run record three.h5 -o again.h5 && cmp back.h5 again.h5 || fail "equal values give equal .h5 files"
        refuses 2 "three.h5: expected one array, found 3" arrays three.h5
        refuses 2 "three.h5: there is no array q" other three.h5
        head -c 100 d.h5 >cut.h5
        refuses 2 "cut.h5: not a valid .h5 file: the signature or the superblock is wrong" arrays cut.h5
        : >empty.h5
        refuses 2 "empty.h5: not a valid .h5 file: it is empty" arrays empty.h5
        seed h5/texts t.h5
        refuses 2 "t.h5: dataset x: expected elements of type i64, found texts" arrays t.h5
        seed h5/huge h.h5
        refuses 2 "h.h5: not a valid .h5 file: a shape is larger than the file" arrays h.h5
        seed h5/elsewhere e.h5 # nothing of other files
        refuses 2 "e.h5: dataset x: elements in other files are not read" arrays e.h5
        seed h5/links k.h5
        refuses 2 "k.h5: expected one array, found 0" arrays k.h5
        refuses 2 "a .h5 file holds arrays of scalars, in a record or a tuple, which the result is not" pairs '[(1, 2)]' -o x.h5
    fi
    seed jpg/colour c.jpg
    if run colour c.jpg 2>&1 | grep -q "without libjpeg"; then
        echo "no libjpeg: .jpg is not tested"
    else
        gives '(4, 8, 3, true)\n' colour c.jpg
        seed jpg/progressive p.jpeg
        gives '(4, 8, 3, true)\n' colour p.jpeg
        seed jpg/gray g.jpg
        gives '(4, 8, 100)\n' gray g.jpg
        head -c 300 c.jpg >cut.jpg
        refuses 2 "cut.jpg: not a valid JPEG file: " colour cut.jpg
        refuses 2 "files of the format jpg are only read" matrix '[[1]]' -o x.jpg
    fi
    refuses 2 "x.parquet: Parquet is not read" pairs x.parquet
    refuses 2 "x.parquet: Parquet is not written" pairs '[]' -o x.parquet
}

one_maker() {
    maker=$1
    raw_files
    output_names
    tables
    libraries
}

"$dpc" check f.dp || exit 1
"$dpc" run --eval=core f.dp --help | grep -qF 'entry lines (t: [text]) : [text]' || fail "text is not in the signature"
one_maker core
if "$dpc" devices 2>/dev/null | grep -q "^#0"; then
    "$dpc" build f.dp || fail "f.dp does not build"
    one_maker device
else
    echo "no OpenCL device: executables are not tested"
fi
[ $failed -eq 0 ]
