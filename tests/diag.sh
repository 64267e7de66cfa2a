#!/bin/sh
# Wrong programs against their expected messages: diag.sh DPC [--write]
#
# tests/diag/CODE/NAME.dp is a program whose first message has that code (or that is accepted), NAME.err what `dpc check` says of it. Prints
# the programs of which it says something else; with --write, these messages are the expected ones from now on, and programs are moved to
# the folder of their code.
set -u
dpc=$(realpath "$1") write=${2:-}
cd "$(dirname "$0")/.." || exit 2
export NO_COLOR=1
said=$(mktemp)
for program in tests/diag/*.dp tests/diag/[EWa]*/*.dp; do
    [ -e "$program" ] || continue
    folder=${program%/*} name=${program##*/}
    (cd "$folder" && "$dpc" check "$name" >"$said" 2>&1)
    code=$(grep -oE '\[[EW][0-9]{4}\]' "$said" | head -n 1 | tr -d '[]')
    code=${code:-accepted}
    if [ "$write" ]; then
        cat "$said" >"${program%.dp}.err"
        if [ "$code" != "${folder##*/}" ]; then
            mkdir -p "tests/diag/$code"
            mv "$program" "${program%.dp}.err" "tests/diag/$code/"
        fi
    elif [ "$code" != "${folder##*/}" ] || ! cmp -s "$said" "${program%.dp}.err"; then
        echo "$program"
    fi
done
rm -f "$said"
