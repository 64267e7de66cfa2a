#!/bin/sh
# manpage.sh DPC VERSION: dpc(1), from what `dpc help` says and the table of statuses.
dpc=$1 version=$2
printf '.TH DPC 1 "" "dpc %s" "User Commands"\n.SH NAME\ndpc \\- compiler for DP, a language of nested data parallelism\n' "$version"
printf '.SH SYNOPSIS\n.B dpc\n.I COMMAND\n.RI [ OPTION ...]\n.IR FILE ...\n.SH DESCRIPTION\n'
printf 'dpc compiles .dp programs to executables that run on OpenCL devices, runs their interpreters, tests, formats and explains them.\n'
printf '.SH COMMANDS\n.nf\n'
NO_COLOR=1 "$dpc" help | sed 's/\\/\\\\/g; s/-/\\-/g; s/^\./\\\&./; s/^'"'"'/\\\&'"'"'/'
printf '.fi\n.SH SEE ALSO\nThe documentation in\n.IR /usr/share/doc/dpc .\n'
