# Compares output with what a document shows: awk -f match.awk SHOWN GOT. Exit status 0 if they agree.
# In what is shown, `...` alone on a line stands for any number of lines, elsewhere for any text of its line.
function same(shown, got,    at, rest) {
    at = index(shown, "...")
    if (!at) return shown == got
    if (substr(shown, 1, at - 1) != substr(got, 1, at - 1)) return 0
    shown = substr(shown, at + 3)
    for (rest = at; rest <= length(got) + 1; rest++)
        if (same(shown, substr(got, rest))) return 1
    return 0
}
function agree(i, j,    k) {
    if (i > shown_n) return j > got_n
    if (shown[i] ~ /^[ \t]*\.\.\.$/) {
        for (k = j; k <= got_n + 1; k++)
            if (agree(i + 1, k)) return 1
        return 0
    }
    return j <= got_n && same(shown[i], got[j]) && agree(i + 1, j + 1)
}
FILENAME == ARGV[1] { shown[++shown_n] = $0; next }
{ got[++got_n] = $0 }
END { exit !agree(1, 1) }
