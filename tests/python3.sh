#!/bin/sh
# Prints the first Python that has all these modules, or nothing and status 1: python3.sh MODULE...
# (Debian's packages of modules are /usr/bin/python3's, which another one in the PATH may hide.)
modules=$(echo "$*" | sed 's/ /, /g')
for python in python3 /usr/bin/python3; do
    "$python" -c "import $modules" 2>/dev/null && echo "$python" && exit
done
exit 1
