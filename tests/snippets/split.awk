# Takes a Markdown file apart: every fenced block goes to a file of its own in `out`, and standard output lists
# them, a line each: number, line of its first line, tag ("-" where it has none), tag of the block before it.
#   awk -v out=FOLDER -f split.awk FILE
function finish() { close(path); inside = 0; last = tag }
{
    text = $0
    sub(/\r$/, "", text)
}
!inside && match(text, /^ *```+/) {
    indent = text
    sub(/`.*/, "", indent)
    fence = substr(text, length(indent) + 1, RLENGTH - length(indent))
    tag = substr(text, RLENGTH + 1)
    gsub(/^[ \t]+|[ \t]+$/, "", tag)
    if (tag == "") tag = "-"
    gsub(/[ \t]+/, "_", tag)
    path = sprintf("%s/%03d", out, ++n)
    printf "" > path
    printf "%03d %d %s %s\n", n, NR + 1, tag, last == "" ? "-" : last
    inside = 1
    next
}
inside && index(text, indent fence) == 1 && text ~ /^ *```+ *$/ { finish(); next }
inside {
    if (indent != "" && index(text, indent) == 1) text = substr(text, length(indent) + 1)
    print text > path
}
END {
    if (inside) printf "%03d %d unclosed -\n", ++n, NR
}
