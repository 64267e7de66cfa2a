#!/bin/sh
# Files as they are, through the command line: what decides on their format, raw bytes and lines, standard input and output, the
# formats that need more than one file to be seen. By the interpreter and, where there is a device, by executables. files.sh DPC
set -u
dpc=$(realpath "$1")
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

one_maker() {
    maker=$1
    raw_files
    output_names
    tables
}

"$dpc" run --eval=core f.dp --help | grep -qF 'entry lines (t: [text]) : [text]' || fail "text is not in the signature"
one_maker core
if "$dpc" devices 2>/dev/null | grep -q "^#0"; then
    "$dpc" build f.dp || fail "f.dp does not build"
    one_maker device
else
    echo "no OpenCL device: executables are not tested"
fi
[ $failed -eq 0 ]
