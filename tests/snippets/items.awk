# Takes a dp-expr block apart. An item begins at the left margin and goes on with the indented lines below it:
# a definition, which holds for all items of the block, or `EXPRESSION  -- WHAT IT IS`. Item K becomes K.dp, a program
# whose entry is the expression, and K.want; standard output lists them: K and the line of the item.
#   awk -v out=FOLDER -v first=LINE -f items.awk BLOCK
function take(    at, i, body) {
    if (item == "") return
    if (item ~ /^(def|type|import) /) definitions = definitions item "\n"
    else {
        at = 0
        for (i = 1; i <= length(item) - 3; i++)
            if (substr(item, i, 4) == " -- ") at = i
        count++
        bodies[count] = at ? substr(item, 1, at) : item
        wants[count] = at ? substr(item, at + 4) : ""
        lines[count] = begun
    }
    item = ""
}
/^--/ || /^[ \t]*$/ { take(); next }
/^[ \t]/ && item != "" { item = item "\n" $0; next }
{ take(); item = $0; begun = first + NR - 1 }
END {
    take()
    for (i = 1; i <= count; i++) {
        program = out "/" i ".dp"
        body = bodies[i]
        sub(/[ \n]+$/, "", body)
        gsub(/\n/, "\n  ", body)
        printf "%sentry main = %s\n", definitions, body > program
        close(program)
        print wants[i] > (out "/" i ".want")
        close(out "/" i ".want")
        print i, lines[i]
    }
}
