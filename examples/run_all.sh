#!/bin/sh
# Compiles and runs every example, or those named, on its own input: run_all.sh path/to/dpc [NAME...]
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- */
status=0
for dir; do
    name=${dir%/}
    set -- # the arguments: none with values on standard input; else a file, whose format is also that of the result
    for format in csv json; do
        [ -e "$name/$name.$format" ] && set -- "$name/$name.$format" -o "$format:-"
    done
    input=$name/$name.in
    [ $# -gt 0 ] && input=/dev/null
    [ -e "$input" ] || continue
    printf '%-18s ' "$name"
    if "$dpc" run "$name/$name.dp" "$@" <"$input" >"/tmp/dpc-demo.$$" 2>"/tmp/dpc-demo-err.$$"; then
        if cmp -s "/tmp/dpc-demo.$$" "$name/$name.out"; then
            head -n 1 "/tmp/dpc-demo.$$" | cut -c1-100
        else
            echo "WRONG: $(cut -c1-100 "/tmp/dpc-demo.$$")"
            status=1
        fi
    else
        echo "FAILED: $(head -n 3 "/tmp/dpc-demo-err.$$")"
        status=1
    fi
done
rm -f "/tmp/dpc-demo.$$" "/tmp/dpc-demo-err.$$"
exit $status
