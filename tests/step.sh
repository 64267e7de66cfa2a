#!/bin/sh
# dpc step: commands from a pipe, and what they show. step.sh DPC
set -u
dpc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export NO_COLOR=1
failed=0

cat >rows.dp <<'END'
def square (x: i64) : i64 = x * x
entry main (rows: [[i64]]) : [i64] =
  { sum { square x : x in row }
  : row in rows }
def gcd (a: i64) (b: i64) : i64 = if b == 0 then a else gcd b (a % b)
entry divisor (a: i64) (b: i64) : i64 = gcd a b
entry fails (xs: [i64]) : i64 = xs[3]
entry long (n: i64) : i64 = loop s = 0 for i < n do s + i
END

# after 'COMMANDS, with ; between' OPTION… : what is shown is in `shown`
after() {
    commands=$1
    shift
    printf '%s\n' "$commands" | tr ';' '\n' | "$dpc" step "$@" >shown 2>said
    status=$?
}
shows() { # shows LINE…: these lines, one behind the other
    printf '%s\n' "$@" >wanted
    if ! awk 'NR == FNR { wanted[++n] = $0; next } { line[++m] = $0 }
              END { for (i = 0; i <= m - n; i++) { same = 1
                        for (j = 1; j <= n && same; j++) same = line[i + j] == wanted[j]
                        if (same) exit 0 }
                    exit 1 }' wanted shown; then
        failed=1
        echo "FAILED: after '$commands' no"
        cat wanted
        echo "  but"
        cat shown said
    fi
}
ends() { # ends STATUS
    [ "$status" -eq "$1" ] || { failed=1; echo "FAILED: after '$commands' status $status, not $1"; cat said; }
}

rows='[[1, 2], [3]]'
after '' rows.dp "$rows"
shows 'main (rows: [[i64]]) : [i64] on core, 34 events; help lists the commands' \
      '#0 call main' '    %0.rows : [[i64]] = [[1, 2], [3]]'
ends 0

# Over the map, into it, and back to where it came from.
after 'next;next;back;step;step' --core rows.dp "$rows"
shows '#31 rows.dp:3 in main: %12 : [i64] = map %1 (%2.row : [i64] <- %0.rows) {' '    %12 : [i64] = [5, 9]' \
      '#1 rows.dp:3 in main: %1 : i64 = length %0.rows' '    %1 : i64 = 2' \
      '#2 instance 0 of rows.dp:3 in main: %12 : [i64] = map %1 (%2.row : [i64] <- %0.rows) {' '    %2.row : [i64] = [1, 2]'
after 's;s;s;s;before' rows.dp "$rows"
shows '#4 instance 0 of rows.dp:3 in main: %6.xs : [i64] = map %3 (%4.x : i64 <- %2.row) {' '    %4.x : i64 = 1' \
      '#3 rows.dp:3 in main: %3 : i64 = length %2.row'

# Breakpoints, forwards and backwards; what is where.
after 'break 1;continue;c;print x;where;out;reverse;delete 1;c' rows.dp "$rows"
shows 'breakpoint at line 1' '#6 rows.dp:1 in square: %1 : i64 = mul %0.x, %0.x' '    %1 : i64 = 1' \
      '#11 rows.dp:1 in square: %1 : i64 = mul %0.x, %0.x' '    %1 : i64 = 4' '%0.x : i64 = 2' \
      '  square, rows.dp:1' '  main, rows.dp:3' \
      '    instance 1 of rows.dp:3 in main: %6.xs : [i64] = map %3 (%4.x : i64 <- %2.row) {' \
      '    instance 0 of rows.dp:3 in main: %12 : [i64] = map %1 (%2.row : [i64] <- %0.rows) {' \
      '#13 rows.dp:3 in main: %5 : i64 = call square (%4.x)' '    %5 : i64 = 4' \
      '#11 rows.dp:1 in square: %1 : i64 = mul %0.x, %0.x' '    %1 : i64 = 4' \
      'there are no breakpoints' '#33 result' '    0 : [i64] = [5, 9]'
after 'goto 11;print row;print %0;out;print row;print nobody;list' rows.dp "$rows"
shows 'no variable row has a value here' '%0.x : i64 = 2' '#13 rows.dp:3 in main: %5 : i64 = call square (%4.x)' '    %5 : i64 = 4' \
      '%2.row : [i64] = [1, 2]' 'no variable nobody has a value here'
shows '     1  def square (x: i64) : i64 = x * x' '     2  entry main (rows: [[i64]]) : [i64] =' \
      '>    3    { sum { square x : x in row }' '     4    : row in rows }'

# Recursion: a call inside a call, and out of it.
after 'break 5;c;c;where' --entry divisor rows.dp 4 2
shows '  gcd, rows.dp:5' '  gcd, rows.dp:5' '    else of rows.dp:5 in gcd: %5 : i64 = if %2 then { -> %0.a } else {' '  divisor, rows.dp:6'

# On flat: contexts, and values beside their representation.
after 'goto 1;continue' --flat rows.dp "$rows"
shows 'main (rows: [[i64]]) : [i64] on flat, 8 events; help lists the commands' '#0 call main' '    %rows0 : [[i64]] = [[1, 2], [3]]' \
      '      view: 2 at 0 of block 0' '      views: 2 at 0 of block 1; 1 at 2 of block 1'
grep -q ': context, nested of root, 2 instances, offsets \[0, 2\]' shown || {
    after 's;s;s;s;s;s' --flat rows.dp "$rows"
    grep -q ': context, nested of ' shown || { failed=1; echo "FAILED: no context is shown"; cat shown; }
}

# What fails is walked through; the status is the run's. What is too long is cut, and that is said.
after 'continue;back' --entry fails rows.dp '[1]'
shows '#1 failure: rows.dp:7:35: error: index 3 out of bounds for length 1' '#0 call fails'
ends 1
after 'c;back' --entry long rows.dp 200000
shows '#100000 the record ends here, at its limit of 100000 events; the run goes on'
ends 0

# Mistakes.
after 'jump;break x;goto 99;break 99;quit;next' rows.dp "$rows"
shows 'jump is no command; help lists them' 'break takes the number of a line, not x' 'goto takes the number of an event: 0 to 33' \
      'breakpoint at line 99, of which this run executes nothing'
[ "$(tail -n 1 shown)" = 'breakpoint at line 99, of which this run executes nothing' ] || { failed=1; echo "FAILED: quit goes on"; }
after '' rows.dp
ends 2
grep -q 'dpc step takes all arguments on the command line: main (rows: \[\[i64\]\]) : \[i64\]' said || { failed=1; cat said; }
after '' --core --flat rows.dp "$rows"
ends 2
exit $failed
