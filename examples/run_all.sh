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
    [ -e "$name/$name.in" ] || continue
    printf '%-18s ' "$name"
    if "$dpc" run "$name/$name.dp" <"$name/$name.in" >"/tmp/dpc-demo.$$" 2>&1; then
        if cmp -s "/tmp/dpc-demo.$$" "$name/$name.out"; then
            cut -c1-100 "/tmp/dpc-demo.$$"
        else
            echo "WRONG: $(cut -c1-100 "/tmp/dpc-demo.$$")"
            status=1
        fi
    else
        echo "FAILED: $(head -n 3 "/tmp/dpc-demo.$$")"
        status=1
    fi
done
rm -f "/tmp/dpc-demo.$$"
exit $status
