#!/bin/sh
# Runs every block of the documentation, and looks where its links lead: snippets.sh DPC [FILE.md…]
#
# The tag behind ``` says what a block is:
#   dp        a program: `dpc check` has nothing to say about it, and its tests pass on the interpreters (the tests are not run if
#             the next block runs `dpc test` on it, and so shows what comes of them)
#   dp-expr   definitions, and expressions with what they are: `EXPRESSION  -- VALUE`, `-- VALUE : TYPE` or
#             `-- error: MESSAGE` (of the compiler, with its code, or of the program)
#   dp-error  a program about which `dpc check` says exactly what the next block, a text block, shows
#   sh        lines `$ COMMAND` (which go on behind lines `> `), each followed by exactly what it prints
#   python    an interactive session with the package dpc, as Python's doctest runs it; those of a document are one session
#   text      is not run
# There are no other tags, and no block without. A program is called f.dp, or as its first line says: `-- NAME.dp`.
# docs/errors.md has tags and a test of its own, errors.sh.
# The blocks of a document run in order in one folder, where dpc is in the PATH and `examples` the examples.
# In what a block shows, `...` stands for any text, and alone on a line for any lines.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
awks=$here/snippets
export NO_COLOR=1

fail() { # fail LINE MESSAGE [FILE…]: the files are shown
    failures=$((failures + 1))
    echo "FAILED: $document:$1: $2"
    shift 2
    for f in "$@"; do
        echo "  -- $(basename "$f")"
        sed 's/^/  /' "$f"
    done
}

needs_device() { # needs_device FILE: its commands start a program on a device
    grep -E '(^|[^./[:alnum:]])dpc (build|run|test|devices)( |$)|(^|[ |])\./' "$1" | grep -qv -e --eval=
}

run_program() { # run_program BLOCK LINE NEXT
    name=$(sed -n '1s/^-- *\([A-Za-z0-9_]*\.dp\)$/\1/p' "$1")
    name=${name:-f.dp}
    cp "$1" "$name"
    dpc check "$name" >"$work/got" 2>&1
    status=$?
    [ $status -eq 0 ] && [ ! -s "$work/got" ] || fail "$2" "dpc check $name: status $status" "$work/got"
    grep -q '^-- \(test\|property\) ' "$name" || return
    grep -q "^\$ dpc test .*$name" "$3" 2>/dev/null && return # what it shows is compared
    timeout 60 dpc test --eval=core,fused,flat "$name" >"$work/got" 2>&1 || fail "$2" "dpc test $name" "$work/got"
}

# What the expression K is on an evaluator: its value, or `error: MESSAGE`.
evaluate() { # evaluate K EVALUATOR
    value=$(timeout 60 dpc run --eval="$2" "$items/$1.dp" 2>"$work/errors" </dev/null) && { printf '%s\n' "$value"; return; }
    sed -n 's/^.*\.dp:[0-9:]* error: /error: /p' "$work/errors" | head -n 1
}

run_expression() { # run_expression K LINE
    wanted=$(cat "$items/$1.want") type=
    case $wanted in
        '') fail "$2" "an expression without its value" "$items/$1.dp"; return ;;
        error:*) ;;
        *) type=$(printf '%s\n' "$wanted" | sed -n 's/^.* : \([^"]*\)$/\1/p') ;;
    esac
    wanted=${wanted%"${type:+ : $type}"}
    blocks=$((blocks + 1))
    for e in core fused flat; do
        evaluate "$1" $e >"$work/got"
        printf '%s\n' "$wanted" >"$work/wanted"
        awk -f "$awks/match.awk" "$work/wanted" "$work/got" || { fail "$2" "on $e" "$items/$1.dp" "$work/got" "$work/wanted"; return; }
    done
    [ "$type" ] || return
    dpc run --eval=core "$items/$1.dp" --help 2>/dev/null | sed -n 's/^entry main : //p' >"$work/got"
    [ "$type" = "$(cat "$work/got")" ] || fail "$2" "its type is not $type" "$items/$1.dp" "$work/got"
}

run_expressions() { # run_expressions BLOCK LINE
    items=$work/items
    rm -rf "$items"
    mkdir "$items"
    ln -s "$work/folder/"*.dp "$items" 2>/dev/null # to import from
    awk -v out="$items" -v first="$2" -f "$awks/items.awk" "$1" >"$work/list"
    [ -s "$work/list" ] || fail "$2" "no expressions"
    while read -r k line; do run_expression "$k" "$line"; done <"$work/list"
}

run_error() { # run_error BLOCK LINE SHOWN
    name=$(sed -n '1s/^-- *\([A-Za-z0-9_]*\.dp\)$/\1/p' "$1")
    name=${name:-f.dp}
    cp "$1" "$name"
    dpc check "$name" >"$work/got" 2>&1
    awk -f "$awks/match.awk" "$3" "$work/got" && [ -s "$3" ] || fail "$2" "dpc check $name says" "$work/got"
}

run_commands() { # run_commands BLOCK LINE
    if [ ! "$device" ] && needs_device "$1"; then
        echo "skipped: $document:$2: there is no OpenCL device"
        return
    fi
    rm -rf "$work/commands"
    mkdir "$work/commands"
    awk -v out="$work/commands" -v first="$2" '
        /^\$ /      { n++; print n, first + NR - 1; print substr($0, 3) > (out "/" n ".sh"); printf "" > (out "/" n ".shown"); more = 1; next }
        /^> / && more { print substr($0, 3) > (out "/" n ".sh"); next }
        n == 0      { print 0, first; exit }
                    { more = 0; print > (out "/" n ".shown") }' "$1" >"$work/list"
    while read -r k line; do
        c=$work/commands/$k
        if [ "$k" = 0 ]; then fail "$line" "a sh block begins with a \$ line"; break; fi
        timeout 120 sh "$c.sh" >"$work/got" 2>&1 </dev/null
        awk -f "$awks/match.awk" "$c.shown" "$work/got" || fail "$line" "$(head -n 1 "$c.sh") printed" "$work/got"
    done <"$work/list"
}

# The session so far, its lines where they stand in the document.
add_session() { # add_session BLOCK LINE
    if [ ! "$device" ] || [ ! "$python" ]; then
        echo "skipped: $document:$2: there is no $([ "$device" ] && echo "python3 with numpy, or it cannot load libdpc" || echo "OpenCL device")"
        return
    fi
    have=$(cat "$work/session.txt" 2>/dev/null | wc -l)
    { yes '' | head -n $(($2 - 1 - have)); cat "$1"; } >>"$work/session.txt"
    grep -q '^>>> ' "$1" || fail "$2" "a python block begins with a >>> line"
}

run_session() {
    DPC_LIBRARY=$(dirname "$dpc")/libdpc.so PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1 \
        timeout 120 "$python" -m doctest -o ELLIPSIS "$work/session.txt" >"$work/got" 2>&1 && return
    fail "$(sed -n 's/^File .*, line \([0-9]*\), .*/\1/p' "$work/got" | head -n 1)" "the session in Python" "$work/got"
}

run_block() { # run_block NUMBER LINE TAG LAST
    block=$work/blocks/$1
    blocks=$((blocks + 1))
    case $3 in
        dp) run_program "$block" "$2" "$work/blocks/$(printf %03d $(expr "$1" + 1))" ;;
        dp-expr) blocks=$((blocks - 1)); run_expressions "$block" "$2" ;;
        dp-error) error_block=$block error_line=$2 ;;
        sh) run_commands "$block" "$2" ;;
        python) add_session "$block" "$2" ;;
        text) [ "$4" != dp-error ] || run_error "$error_block" "$error_line" "$block" ;;
        -) fail "$2" "a block without a tag" ;;
        unclosed) fail "$2" "the last block is not closed" ;;
        *) fail "$2" "no such tag: $3" ;;
    esac
    [ "$4" != dp-error ] || [ "$3" = text ] || fail "$2" "a dp-error block is followed by the message, in a text block"
}

# Targets are files of the project; behind # a heading of theirs, as GitHub calls it.
check_links() {
    awk '/^ *```/ { inside = !inside } !inside { gsub(/`[^`]*`/, ""); while (match($0, /\]\([^)]*\)/)) {
        print NR, substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH) } }' "$source" >"$work/links"
    while read -r line target; do
        case $target in http*) continue ;; esac
        path=${target%%#*} heading=
        case $target in *\#*) heading=${target#*\#} ;; esac
        path=${path:+$(dirname "$source")/$path}
        path=${path:-$source}
        [ -e "$path" ] || { fail "$line" "the link leads nowhere: $target"; continue; }
        [ -z "$heading" ] || sed -n 's/^##* //p' "$path" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | grep -qx -e "$heading" ||
            fail "$line" "there is no such heading: $target"
    done <"$work/links"
}

run_document() { # run_document FILE
    document=${1#"$root/"} source=$1 failures=0 blocks=0
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/blocks" "$work/folder"
    ln -s "$root/examples" "$work/folder/examples"
    awk -v out="$work/blocks" -f "$awks/split.awk" "$1" >"$work/manifest"
    cd "$work/folder" || exit 1
    check_links
    last=
    while read -r number line tag before; do
        run_block "$number" "$line" "$tag" "$before"
        last=$tag
    done <"$work/manifest"
    [ ! -e "$work/session.txt" ] || run_session
    [ "$last" != dp-error ] || fail 0 "a dp-error block is followed by the message, in a text block"
    echo "$document: $blocks blocks and expressions, $failures failed"
    [ $failures -eq 0 ]
}

dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
PATH=$(dirname "$dpc"):$PATH
device=$("$dpc" devices 2>/dev/null | sed -n '/^#0/p')
python=$(sh "$here/python3.sh" numpy)
ldd "$(dirname "$dpc")/libdpc.so" | grep -qE 'lib(a|t|ub)san' && python=
[ $# -eq 1 ] && { run_document "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; exit; }

# The test can fail: a document of mistakes, and what has to be said about them.
if [ $# -eq 0 ]; then
    out=$(mktemp)
    sh "$0" "$dpc" "$awks/wrong.md" 2>&1 | grep -E '^(FAILED|tests)' >"$out"
    cmp -s "$out" "$awks/wrong.out" || { echo "FAILED: tests/snippets/wrong.md gives"; cat "$out"; rm -f "$out"; exit 1; }
    rm -f "$out"
    if [ "$device" ] && [ "$python" ]; then
        sh "$0" "$dpc" "$awks/wrong_session.md" | grep -q 'md:9: the session in Python' ||
            { echo "FAILED: nothing is said about tests/snippets/wrong_session.md"; exit 1; }
    fi
    cd "$root" || exit 1
    set -- $(find README.md docs -name "*.md" ! -path docs/errors.md)
fi
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh "$here/snippets.sh" "$dpc"
status=$?
[ $status -eq 0 ] && echo "snippets: all passed"
exit $((status > 0))
