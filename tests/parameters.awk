# From `def f (x: t) ((a, b): u) xs : v =` (of a source) to `f x (a, b) xs`: each public definition with its parameters.
/^def / && $2 !~ /__$/ {
    s = substr($0, 5) " ="
    out = ""
    depth = 0
    skip = 0
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (depth == 0 && (c == "=" || c == ":")) break
        if (c ~ /[([{]/) depth++
        if (c ~ /[)\]}]/ && --depth == 0) skip = 0
        if (depth == 1 && c == ":") skip = 1
        if (!skip) out = out c
    }
    gsub(/ '[a-z]+/, "", out) # parameters that are types
    gsub(/ +/, " ", out)
    sub(/ $/, "", out)
    while (match(out, /\([a-z_0-9]+\)/)) # (x) of (x: t)
        out = substr(out, 1, RSTART - 1) substr(out, RSTART + 1, RLENGTH - 2) substr(out, RSTART + RLENGTH)
    gsub(/\(\(/, "(", out)
    gsub(/\)\)/, ")", out)
    print out
}
# BUILTIN(f, "x y", "…") of builtins.def likewise
/^BUILTIN/ && $1 !~ /__,$/ {
    split($0, part, "\"")
    sub(/^BUILTIN\(/, "", $1)
    sub(/,$/, "", $1)
    print $1 (part[2] == "" ? "" : " ") part[2]
}
