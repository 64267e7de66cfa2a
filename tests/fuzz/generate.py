"""Random well-typed programs and inputs for them.

Types are scalars' names, ("seq", t), ("tup", (t, ...)), ("rec", ((name, t), ...)) and ("sum", name). Expressions are trees of
Node, so that a failing program can be reduced: each knows its type and can be replaced by any other of that type.

What a program computes has to be determined by the language alone: floats are reduced by min and max only, operators are associative
with their neutral elements, scattered indices differ. Indices and lengths are mostly good, for programs that fail early test little.
"""

INTS = ["i64", "i64", "i64", "i32", "i32", "u8", "i8", "i16", "u16", "u32", "u64"]
ORDINARY = INTS + ["i64", "bool", "bool", "f64", "f32"]

# Functions that programs use; what a program does not call is not compiled.
LIBRARY = """def at xs (i: i64) d = let n = length xs in if n == 0 then d else xs[(i % n + n) % n]
def put xs (i: i64) v = let n = length xs in if n == 0 then xs else xs with [(i % n + n) % n] = v
def put2 xss (i: i64) (j: i64) v = if length xss == 0 then xss else let k = (i % length xss + length xss) % length xss in xss with [k] = put xss[k] j v
def upto xs (k: i64) = let n = length xs in if n == 0 then 0 else (k % (n + 1) + n + 1) % (n + 1)
def upfront xs = take (min 3 (length xs)) xs
def twice f x = f (f x)
def compose f g x = f (g x)
def mapi f xs = { f i x : x in xs; i in length xs }
def iterate (n: i64) f x = loop y = x for _i < n do f y
def fold f z xs = loop a = z for x in xs do f a x
def rep (n: i64) f x = if n <= 0 then x else rep (n - 1) f (f x)
def tree (n: i64) f z = if n <= 0 then z else let qs = { tree (n - 1 - j) f z : j in 2 } in f qs[0] qs[1]
def halves f z xs = if length xs == 0 then z else if length xs == 1 then xs[0]
  else let m = length xs / 2 in f (halves f z xs[:m]) (halves f z xs[m:])
def quick xs = if length xs < 2 then xs else let p = xs[length xs / 2] in
  let parts = { quick ys : ys in [{ x in xs | x < p }, { x in xs | x > p }] } in parts[0] ++ { x in xs | x == p } ++ parts[1]
"""


def seq(t):
    return ("seq", t)


def tup(*ts):
    return ("tup", tuple(ts))


def is_seq(t):
    return t[0] == "seq"


def is_int(t):
    return isinstance(t, str) and t in INTS


def is_scalar(t):
    return isinstance(t, str)


def is_ord(t):
    return is_scalar(t) or (t[0] == "tup" and all(is_scalar(u) for u in t[1]))


def has_seq(t):
    if is_scalar(t) or t[0] == "sum":
        return False
    return t[0] == "seq" or any(has_seq(u) for u in parts_of(t))


def parts_of(t):
    return [u for _, u in t[1]] if t[0] == "rec" else list(t[1])


def type_text(t):
    if is_scalar(t):
        return t
    if t[0] == "seq":
        return "[%s]" % type_text(t[1])
    if t[0] == "tup":
        return "(%s)" % ", ".join(type_text(u) for u in t[1])
    if t[0] == "rec":
        return "{%s}" % ", ".join("%s: %s" % (n, type_text(u)) for n, u in t[1])
    return t[1]


class Node:
    """An expression: text and expressions, alternating as they like. `type` is None for what stands for no expression."""
    __slots__ = ("type", "parts")

    def __init__(self, type, *parts):
        self.type = type
        self.parts = list(parts)

    def text(self):
        return "".join(p if isinstance(p, str) else p.text() for p in self.parts)

    def size(self):
        return 1 + sum(p.size() for p in self.parts if not isinstance(p, str))


class Var:
    """length: equal for sequences that are equally long; rows: the same of the rows of a regular one; index: it indexes these."""

    def __init__(self, name, type, length=None, rows=None, index=None):
        self.name, self.type, self.length, self.rows, self.index = name, type, length, rows, index


class Function:
    def __init__(self, name, params, result, counted=False):
        self.name, self.params, self.result, self.counted = name, params, result, counted


class Entry:
    def __init__(self, name, params, types, inputs, body, result):
        self.name, self.params, self.types, self.inputs, self.body, self.result = name, params, types, inputs, body, result

    def text(self):
        return "entry %s %s : %s =\n  %s\n" % (self.name, " ".join(self.params), type_text(self.result), self.body.text())


class Program:
    def __init__(self):
        self.sums, self.definitions, self.entries = {}, [], []

    def text(self):
        lines = [LIBRARY]
        for name, cases in self.sums.items():
            lines.append("type %s = %s\n" % (name, " | ".join("#" + c + (" " + type_text(p) if p else "") for c, p in cases)))
        lines += [d.text() for d in self.definitions]
        lines += [e.text() for e in self.entries]
        return "".join(lines)


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.program = Program()
        self.functions = []
        self.pool = [] # types that occur often, so that variables and functions fit what is wanted
        self.count = 0
        self.fuel = 0

    # ---- names and types ----
    def name(self, prefix):
        self.count += 1
        return "%s_%d" % (prefix, self.count) # i32 would hide a conversion

    def chance(self, p):
        return self.rng.random() < p

    def scalar(self):
        return self.rng.choice(ORDINARY)

    def type(self, depth=2):
        fits = [t for t in self.pool if nesting(t) <= depth]
        if fits and self.chance(0.5):
            return self.rng.choice(fits)
        r = self.rng.random()
        if depth <= 0 or r < 0.42:
            return self.scalar()
        if r < 0.78:
            return seq(self.type(depth - 1))
        if r < 0.90:
            return tup(*[self.type(depth - 1) for _ in range(self.rng.choice([2, 2, 3]))])
        if r < 0.95 or not self.program.sums:
            return ("rec", tuple((n, self.type(depth - 1)) for n in "xyz"[:self.rng.choice([1, 2, 2, 3])]))
        return ("sum", self.rng.choice(list(self.program.sums)))

    def small_type(self):
        return self.rng.choice([self.scalar(), self.scalar(), tup(self.scalar(), self.scalar()), self.type(1)])

    def ordered(self):
        return self.scalar() if self.chance(0.7) else tup(self.scalar(), self.scalar())

    def source(self, env):
        """An element's type, mostly of a sequence that there is."""
        seqs = [v for v in env if is_seq(v.type)]
        return self.rng.choice(seqs[-5:]).type[1] if seqs and self.chance(0.7) else self.small_type()

    def make_sums(self):
        for i in range(self.rng.choice([0, 1, 1, 2])):
            name = "s%d" % i
            cases = [(name + "a", None)]
            for c in "bcd"[:self.rng.choice([1, 2, 3])]:
                payload = self.rng.choice([None, self.scalar(), tup(self.scalar(), self.scalar()), seq(self.scalar()), tup("i64", seq(self.scalar()))])
                cases.append((name + c, payload))
            self.program.sums[name] = cases

    # ---- the smallest expressions ----
    def number(self, t):
        if t in ("f32", "f64"):
            return Node(t, self.rng.choice(["0.0", "1.5", "(-2.25)", "3.0", "0.5", "100.0"]).replace(")", ("f32)" if t == "f32" else ")")) +
                        ("" if t == "f64" else ""))
        low, high = (0, 9) if t[0] == "u" else (-5, 9)
        n = self.rng.randint(low, high) if self.chance(0.9) else self.rng.choice([100, 127, 64])
        return Node(t, "%d%s" % (n, t) if n >= 0 else "(%d%s)" % (n, t))

    def constant(self, t):
        if t == "bool":
            return Node(t, self.rng.choice(["true", "false"]))
        if t in ("f32", "f64"):
            return Node(t, "(%s : %s)" % (self.rng.choice(["0.0", "1.5", "-2.25", "3.0", "0.5", "100.0"]), t))
        if is_scalar(t):
            return self.number(t)
        if is_seq(t):
            if self.chance(0.3) or has_seq(t[1]) and self.chance(0.3):
                return Node(t, "([] : %s)" % type_text(t))
            items = [self.constant(t[1]) for _ in range(self.rng.randint(1, 3))]
            return self.listed(t, "[", items, "]")
        return self.made(t, self.constant)

    def listed(self, t, before, items, after):
        parts = [before]
        for i, item in enumerate(items):
            parts += [", ", item] if i else [item]
        return Node(t, *parts, after)

    def made(self, t, make):
        """A tuple, record or sum of parts that `make` makes."""
        if t[0] == "tup":
            return self.listed(t, "(", [make(u) for u in t[1]], ")")
        if t[0] == "rec":
            parts = []
            for n, u in t[1]:
                parts += [", " if parts else "{", n + " = ", make(u)]
            return Node(t, *parts, "}")
        c, p = self.rng.choice(self.program.sums[t[1]])
        return Node(t, "(#" + c + " ", make(p), " : %s)" % t[1]) if p else Node(t, "(#%s : %s)" % (c, t[1]))

    def variables(self, t, env):
        return [v for v in env if v.type == t]

    def leaf(self, t, env):
        vs = self.variables(t, env)
        if vs and self.chance(0.9):
            near = vs[-4:] if self.chance(0.7) else vs
            return Node(t, self.rng.choice(near).name)
        if is_scalar(t):
            return self.scalar_leaf(t, env)
        if is_seq(t):
            others = [v for v in env if is_seq(v.type)]
            if others and self.chance(0.85):
                v = self.rng.choice(others[-4:])
                x = self.element_var(v)
                if is_seq(x.type) and not is_seq(t[1]) and self.chance(0.5):
                    y = Var(self.name("x"), x.type[1])
                    return Node(t, "{ ", self.leaf(t[1], env + [y]), " : %s in flatten %s }" % (y.name, v.name))
                return Node(t, "{ ", self.leaf(t[1], env + [x]), " : %s in %s }" % (x.name, v.name))
            return self.constant(t)
        return self.made(t, lambda u: self.leaf(u, env))

    def picked(self, t, env):
        """A scalar from a sequence's element, at a place that other variables give."""
        seqs = [v for v in env if is_seq(v.type)]
        if not seqs:
            return None
        v = self.rng.choice(seqs[-5:])
        text, u = v.name, v.type
        while not is_scalar(u):
            if is_seq(u):
                places = [w.name for w in env if w.type == "i64"] or ["1"]
                text = "(at %s %s %s)" % (text, self.rng.choice(places[-4:]), self.constant(u[1]).text())
                u = u[1]
            elif u[0] == "sum":
                return None
            else:
                i = self.rng.randrange(len(u[1]))
                text, u = "%s.%s" % (text, i if u[0] == "tup" else u[1][i][0]), parts_of(u)[i]
        return Node(t, "(%s %s)" % (t, text))

    def scalar_leaf(self, t, env):
        if self.chance(0.3):
            made = self.picked(t, env)
            if made:
                return made
        if is_int(t) and self.chance(0.25):
            a, b = self.scalar_leaf(t, env), self.scalar_leaf(t, env)
            return Node(t, "(", a, self.rng.choice([" + ", " - ", " * 3%s + " % t, " ^ "]), b, ")")
        others = [v for v in env if is_scalar(v.type)]
        if others and self.chance(0.75):
            v = self.rng.choice(others[-5:])
            if t == "bool":
                return Node(t, v.name if v.type == t else "(%s %s %s)" % (v.name, self.rng.choice(["<", ">", "==", "!="]), self.constant(v.type).text()))
            return Node(t, "(%s %s)" % (t, v.name))
        structures = [v for v in env if not is_scalar(v.type) and v.type[0] != "sum"]
        if structures and self.chance(0.7):
            v = self.rng.choice(structures[-5:])
            text, u = v.name, v.type
            while u[0] in ("tup", "rec"):
                i = self.rng.randrange(len(u[1]))
                text, u = "%s.%s" % (text, i if u[0] == "tup" else u[1][i][0]), parts_of(u)[i]
            if is_seq(u):
                text = "(length %s)" % text
                u = "i64"
            if is_scalar(u):
                return Node(t, "(%s %s)" % (t, text) if t != "bool" else text if u == "bool" else "(%s != %s)" % (text, self.constant(u).text()))
        return self.constant(t)

    # ---- expressions ----
    def expr(self, t, env, d):
        self.fuel -= 1
        if d <= 0 or self.fuel <= 0:
            return self.leaf(t, env)
        forms = [(2, self.leaf_form), (2, self.let), (2, self.let_function), (3, self.branch), (2, self.matched), (2, self.element), (1, self.projected),
                 (7, self.call), (3, self.loop), (1, self.loop_over), (1, self.loop_while), (1, self.higher_order), (2, self.reduced),
                 (1, self.asserted), (1, self.folded), (1, self.let_regular)]
        if is_scalar(t):
            forms += [(8, self.arithmetic), (3, self.reduced_scalar), (1, self.leaf_form)]
        elif is_seq(t):
            forms += [(10, self.each), (4, self.cut), (3, self.changed), (6, self.updated), (5, self.outlived), (3, self.scanned), (6, self.rearranged), (5, self.scattered),
                      (6, self.loop_updates), (4, self.flattened), (1, self.appended), (1, self.replicated), (1, self.special), (1, self.parted)]
            if is_seq(t[1]):
                forms += [(5, self.nested), (5, self.regular)]
            elif t[1] == "i64":
                forms += [(2, self.counting), (1, self.argsorted)]
            if not is_scalar(t[1]):
                forms += [(3, self.special)]
        else:
            forms += [(5, self.parts), (1, self.recorded)]
        total = sum(w for w, _ in forms)
        for _ in range(6):
            r = self.rng.random() * total
            for w, form in forms:
                r -= w
                if r <= 0:
                    break
            made = form(t, env, d - 1)
            if made:
                return made
        return self.leaf(t, env)

    def leaf_form(self, t, env, _):
        return self.leaf(t, env)

    def small(self, env, d, most=None):
        """A number of things."""
        most = most or self.rng.choice([1, 3, 3, 3, 7])
        if self.chance(0.15):
            return Node("i64", str(self.rng.randint(0, most)))
        return Node("i64", "(", self.expr("i64", env, d - 1), " & %d)" % most)

    def bound_expr(self, t, env, d, prefix="v"):
        """A variable and the text in front that binds it: ("let v = ...\n in ", variable)."""
        v = Var(self.name(prefix), t)
        if is_seq(t):
            v.length = v.name
        return v, ["(let %s = " % v.name, self.expr(t, env, d), " in "]

    def let(self, t, env, d):
        maps = [v for v in env if is_seq(v.type)]
        if maps and self.chance(0.4):
            src = self.rng.choice(maps)
            v, x, i = Var(self.name("v"), seq(self.small_type()), src.length), self.element_var(src), Var(self.name("i"), "i64", index=src.length)
            return Node(t, "(let %s = { " % v.name, self.expr(v.type[1], env + [i, x], d), " : %s in %s; %s in length %s } in " % (x.name, src.name, i.name, src.name),
                        self.expr(t, env + [v], d), ")")
        v, before = self.bound_expr(self.type(2), env, d)
        return Node(t, *before, self.expr(t, env + [v], d), ")")

    def let_regular(self, t, env, d):
        v = Var(self.name("m"), seq(seq(self.small_type())))
        v.length, v.rows = v.name, v.name + "#rows"
        return Node(t, "(let %s = " % v.name, self.regular(v.type, env, d), " in ", self.expr(t, env + [v], d), ")")

    def let_function(self, t, env, d):
        u, r = self.small_type(), self.rng.choice([t, self.small_type()])
        f = Function(self.name("f"), [u], r)
        x = Var(self.name("a"), u)
        body = self.expr(r, env + [x], d - 1)
        self.functions.append(f)
        rest = self.expr(t, env, d) if r != t or self.chance(0.5) else Node(t, "(%s " % f.name, self.expr(u, env, d), ")")
        self.functions.remove(f)
        return Node(t, "(let %s (%s: %s) : %s = " % (f.name, x.name, type_text(u), type_text(r)), body, " in ", rest, ")")

    def lambda_(self, params, result, env, d):
        vs = [Var(self.name("a"), u) for u in params]
        head = " ".join("(%s: %s)" % (v.name, type_text(v.type)) for v in vs)
        return Node(None, "(\\%s -> " % head, self.expr(result, env + vs, d), ")")

    def function(self, u, r, env, d):
        """Something of type u -> r."""
        fs = [f for f in self.functions if f.params == [u] and f.result == r]
        if fs and self.chance(0.7):
            return Node(None, self.rng.choice(fs).name)
        return self.lambda_([u], r, env, d)

    def condition(self, env, d):
        return self.expr("bool", env, min(d, 2))

    def branch(self, t, env, d):
        return Node(t, "(if ", self.condition(env, d), " then ", self.expr(t, env, d), " else ", self.expr(t, env, d), ")")

    def matched(self, t, env, d):
        sums = list(self.program.sums)
        if sums and self.chance(0.6):
            name = self.rng.choice(sums)
            parts = ["(match ", self.expr(("sum", name), env, d)]
            cases = list(self.program.sums[name])
            rest = self.chance(0.3) and len(cases) > 1
            for c, p in cases[:-1] if rest else cases:
                if not p:
                    parts += [" case #%s -> " % c, self.expr(t, env, d)]
                else:
                    v = Var(self.name("p"), p)
                    parts += [" case #%s %s -> " % (c, v.name), self.expr(t, env + [v], d)]
            if rest:
                parts += [" case _ -> ", self.expr(t, env, d)]
            return Node(t, *parts, ")")
        if self.chance(0.5):
            b = Var(self.name("p"), "i64")
            return Node(t, "(match (", self.expr("i64", env, d - 1), " & 3, ", self.condition(env, d), ") case (0, _) -> ", self.expr(t, env, d),
                        " case (1, true) -> ", self.expr(t, env, d), " case (%s, _) -> " % b.name, self.expr(t, env + [b], d), ")")
        return Node(t, "(match ", self.small(env, d), " case 0 -> ", self.expr(t, env, d), " case 2 -> ", self.expr(t, env, d), " case _ -> ",
                    self.expr(t, env, d), ")")

    def element(self, t, env, d):
        exact = [(xs, i) for xs in env if xs.type == seq(t) and xs.length for i in env if i.index == xs.length]
        if exact and self.chance(0.8):
            xs, i = self.rng.choice(exact)
            return Node(t, "%s[%s]" % (xs.name, i.name))
        if self.chance(0.02):
            return Node(t, "(", self.expr(seq(t), env, d), ")[", self.expr("i64", env, d - 1), "]")
        return Node(t, "(at ", self.expr(seq(t), env, d), " ", self.expr("i64", env, d - 1), " ", self.expr(t, env, d - 2), ")")

    def projected(self, t, env, d):
        if self.chance(0.5):
            return Node(t, "(", self.expr(tup(self.small_type(), t), env, d), ").1")
        return Node(t, "(", self.expr(("rec", (("x", t), ("y", self.small_type()))), env, d), ").x")

    def parts(self, t, env, d):
        return self.made(t, lambda u: self.expr(u, env, d))

    def recorded(self, t, env, d):
        if t[0] != "rec":
            if t[0] == "tup" and len(t[1]) == 2 and t[1][0] == t[1][1] and is_seq(t[1][0]):
                u = t[1][0][1]
                which = self.rng.choice(["partition", "span"])
                return Node(t, "(%s " % which, self.function(u, "bool", env, d), " ", self.expr(seq(u), env, d), ")")
            if t[0] == "tup" and len(t[1]) == 2 and all(is_seq(u) for u in t[1]):
                return Node(t, "(unzip ", self.expr(seq(tup(t[1][0][1], t[1][1][1])), env, d), ")")
            return None
        n, u = self.rng.choice(t[1])
        return Node(t, "((", self.expr(t, env, d), ") with %s = " % n, self.expr(u, env, d), ")")

    def call(self, t, env, d):
        fs = [f for f in self.functions if f.result == t]
        if not fs:
            return None
        f = self.rng.choice(fs)
        parts = ["(" + f.name]
        for i, u in enumerate(f.params):
            parts += [" ", self.small(env, d, 3) if f.counted and i == 0 else self.expr(u, env, d)]
        return Node(t, *parts, ")")

    def asserted(self, t, env, d):
        return Node(t, "(assert (", self.expr("i64", env, d - 1), " & 7 < 8) ", self.expr(t, env, d), ")")

    def loop_count(self, env, d):
        """Text of a count and the tag of an index below it."""
        seqs = [v for v in env if is_seq(v.type) and v.length]
        if seqs and self.chance(0.4):
            v = self.rng.choice(seqs)
            return Node("i64", "(length %s)" % v.name), v.length
        return self.small(env, d), None

    def loop(self, t, env, d):
        count, tag = self.loop_count(env, d)
        s, i = Var(self.name("s"), t), Var(self.name("i"), "i64", index=tag)
        return Node(t, "(loop %s = " % s.name, self.expr(t, env, d), " for %s < " % i.name, count, " do ", self.expr(t, env + [i, s], d), ")")

    def loop_over(self, t, env, d):
        u = self.source(env)
        s, x = Var(self.name("s"), t), Var(self.name("x"), u)
        return Node(t, "(loop %s = " % s.name, self.expr(t, env, d), " for %s in " % x.name, self.expr(seq(u), env, d), " do ",
                    self.expr(t, env + [x, s], d), ")")

    def loop_while(self, t, env, d):
        s, k = Var(self.name("s"), t), Var(self.name("k"), "i64")
        return Node(t, "(loop (%s, %s) = (" % (s.name, k.name), self.expr(t, env, d), ", 0) while %s < " % k.name, self.small(env, d), " && ",
                    self.condition(env + [s, k], d - 1), " do (", self.expr(t, env + [k, s], d), ", %s + 1)).0" % k.name)

    def loop_updates(self, t, env, d):
        """A loop that carries a sequence and changes it."""
        s, init = Var(self.name("s"), t), Var(self.name("v"), t)
        s.length = init.length = init.name
        i = Var(self.name("i"), "i64", index=init.name if self.chance(0.7) else None)
        inner = env + [init, i, s]
        count = Node("i64", "(length %s)" % init.name) if i.index else self.small(env + [init], d)
        if i.index and self.chance(0.7):
            body = Node(t, "(%s with [%s] = " % (s.name, i.name), self.expr(t[1], inner, d), ")")
        else:
            body = Node(t, "(put %s " % s.name, self.expr("i64", inner, d - 1), " ", self.expr(t[1], inner, d), ")")
        if self.chance(0.3):
            body = Node(t, "(if ", self.condition(inner, d - 1), " then ", body, " else ", self.rng.choice([Node(t, s.name), self.expr(t, inner, d - 1)]), ")")
        return Node(t, "(let %s = " % init.name, self.expr(t, env, d), " in (loop %s = %s for %s < " % (s.name, init.name, i.name), count, " do ", body, "))")

    def higher_order(self, t, env, d):
        kind = self.rng.randrange(5)
        if kind == 0:
            return Node(t, "(twice ", self.function(t, t, env, d), " ", self.expr(t, env, d), ")")
        if kind == 1:
            u = self.small_type()
            return Node(t, "(compose ", self.function(u, t, env, d), " ", self.function(t, u, env, d), " ", self.expr(t, env, d), ")")
        if kind == 2:
            return Node(t, "(%s " % self.rng.choice(["iterate", "rep"]), self.small(env, d, 3), " ", self.function(t, t, env, d), " ", self.expr(t, env, d), ")")
        if kind == 3:
            return Node(t, "(tree ", self.small(env, d, 3), " ", self.lambda_([t, t], t, env, d), " ", self.expr(t, env, d), ")")
        return Node(t, "(", self.expr(t, env, d), " |> ", self.function(t, t, env, d), ")")

    def folded(self, t, env, d):
        u = self.source(env)
        if self.chance(0.5):
            op, neutral, _ = self.operator(t)
            if op:
                return Node(t, "(halves ", op, " ", neutral, " ", self.expr(seq(t), env, d), ")")
        return Node(t, "(fold ", self.lambda_([t, u], t, env, d), " ", self.expr(t, env, d), " ", self.expr(seq(u), env, d), ")")

    # ---- scalars ----
    def arithmetic(self, t, env, d):
        sub = lambda u=t: self.expr(u, env, d)
        if t == "bool":
            kind = self.rng.randrange(5)
            if kind == 0:
                return Node(t, "(", sub(), self.rng.choice([" && ", " || ", " == ", " != "]), sub(), ")")
            if kind == 1:
                return Node(t, "(!", sub(), ")")
            if kind == 2:
                u = tup(self.rng.choice(INTS), self.rng.choice(INTS))
                return Node(t, "(", sub(u), self.rng.choice([" == ", " != "]), sub(u), ")")
            u = self.rng.choice(INTS + ["f64"])
            return Node(t, "(", sub(u), self.rng.choice([" < ", " <= ", " > ", " >= ", " == ", " != "]), sub(u), ")")
        if t in ("f32", "f64"):
            kind = self.rng.randrange(5)
            if kind == 0:
                return Node(t, "(%s (" % t, sub("i64"), " & 1023))")
            if kind == 1:
                return Node(t, "(", sub(), self.rng.choice([" + ", " - "]), sub(), ")")
            if kind == 2:
                return Node(t, "(", sub(), " * ", self.constant(t), ")")
            if kind == 3:
                return Node(t, "(-", sub(), ")")
            return Node(t, "(%s " % self.rng.choice(["min", "max"]), sub(), " ", sub(), ")")
        kind = self.rng.randrange(10)
        if kind < 4:
            return Node(t, "(", sub(), self.rng.choice([" + ", " - ", " * ", " + ", " - ", " & ", " | ", " ^ ", " << ", " >> "]), sub(), ")")
        if kind == 4:
            return Node(t, "(", sub(), self.rng.choice([" / ", " % "]), "(", sub(), " & 7%s | 1%s))" % (t, t))
        if kind == 5:
            v = Var(self.name("v"), t)
            if self.chance(0.1):
                return Node(t, "(", sub(), self.rng.choice([" / ", " % "]), sub(), ")")
            return Node(t, "(let %s = " % v.name, sub(), " in (if %s == 0%s then " % (v.name, t), sub(), " else ", sub(), " / %s))" % v.name)
        if kind == 6:
            return Node(t, "(%s " % self.rng.choice(["min", "max"]), sub(), " ", sub(), ")")
        if kind == 7:
            return Node(t, "(%s " % self.rng.choice(["abs", "sign", "popcount", "clz", "ctz"]), sub(), ")")
        u = self.rng.choice([u for u in ORDINARY if u != t])
        return Node(t, "(%s " % t, sub(u), ")")

    def reduced_scalar(self, t, env, d):
        if t == "i64" and self.chance(0.5):
            kind = self.rng.randrange(4)
            u = self.source(env)
            if kind == 0:
                return Node(t, "(length ", self.expr(seq(u), env, d), ")")
            if kind == 1:
                return Node(t, "(count ", self.function(u, "bool", env, d), " ", self.expr(seq(u), env, d), ")")
            if kind == 2:
                u = self.ordered()
                return Node(t, "(%s ([" % self.rng.choice(["argmin", "argmax"]), self.expr(u, env, d - 1), "] ++ ", self.expr(seq(u), env, d), "))")
            return Node(t, "(length ", self.expr(seq(seq(u)), env, d), ")")
        if t == "bool":
            u = self.source(env)
            return Node(t, "(%s " % self.rng.choice(["any", "all"]), self.function(u, "bool", env, d), " ", self.expr(seq(u), env, d), ")")
        if t in ("f32", "f64", "bool") or self.chance(0.4):
            return Node(t, "(%s ([" % self.rng.choice(["minimum", "maximum", "head", "last"]), self.expr(t, env, d - 1), "] ++ ", self.expr(seq(t), env, d), "))")
        return Node(t, "(%s " % self.rng.choice(["sum", "sum", "product"]), self.expr(seq(t), env, d), ")")

    def operator(self, t, commutative=False):
        """An associative operator on t, its neutral element, and whether it commutes; or Nones."""
        rng = self.rng
        if is_int(t):
            simple = [("(+)", "0" + t), ("(*)", "1" + t), ("max", "min_" + t), ("min", "max_" + t), ("(^)", "0" + t), ("(&)", "(~0%s)" % t), ("(|)", "0" + t),
                      ("(\\x y -> x + y)", "0" + t), ("(\\x y -> if x < y then y else x)", "min_" + t)]
            ordered = [("(\\x y -> if x == 0%s then y else x)" % t, "0" + t), ("(\\x y -> if y == 0%s then x else y)" % t, "0" + t)]
            if not commutative and self.chance(0.25):
                op, ne = rng.choice(ordered)
                return Node(None, op), Node(None, ne), False
            op, ne = rng.choice(simple)
            return Node(None, op), Node(None, ne), True
        if t == "bool":
            op, ne = rng.choice([("(\\x y -> x && y)", "true"), ("(\\x y -> x || y)", "false"), ("(\\x y -> x != y)", "false"), ("(\\x y -> x == y)", "true")])
            return Node(None, op), Node(None, ne), True
        if t in ("f32", "f64"):
            op, ne = rng.choice([("max", "(-inf)"), ("min", "inf")])
            return Node(None, op), Node(None, ne), True
        if is_seq(t):
            if commutative:
                return None, None, False
            return Node(None, "(++)"), Node(None, "([] : %s)" % type_text(t)), False
        if t[0] == "sum":
            if commutative or self.program.sums[t[1]][0][1]:
                return None, None, False
            none = self.program.sums[t[1]][0][0]
            return Node(None, "(\\x y -> match x case #%s -> y case _ -> x)" % none), Node(None, "(#%s : %s)" % (none, t[1])), False
        us = parts_of(t)
        if t[0] == "tup" and len(us) == 2 and us[0] == us[1] and is_int(us[0]) and not commutative and self.chance(0.5):
            return Node(None, "(\\(a, b) (c, e) -> (a * c, b * c + e))"), Node(None, "(1%s, 0%s)" % tuple(us)), False
        ops = [self.operator(u, commutative) for u in us]
        if not all(op for op, _, _ in ops):
            return None, None, False
        parts = ["(\\(x: %s) (y: %s) -> %s" % (type_text(t), type_text(t), "(" if t[0] == "tup" else "{")]
        neutral = ["(" if t[0] == "tup" else "{"]
        for i, (op, ne, _) in enumerate(ops):
            field = str(i) if t[0] == "tup" else t[1][i][0]
            label = "" if t[0] == "tup" else field + " = "
            parts += [(", " if i else "") + label + "(", op, ") x.%s y.%s" % (field, field)]
            neutral += [(", " if i else "") + label, ne]
        end = ")" if t[0] == "tup" else "}"
        return Node(None, *parts, end + ")"), Node(None, *neutral, end), all(c for _, _, c in ops)

    def reduced(self, t, env, d):
        op, ne, comm = self.operator(t)
        if not op:
            return None
        return Node(t, "(%s " % ("reduce_comm" if comm and self.chance(0.3) else "reduce"), op, " ", ne, " ", self.expr(seq(t), env, d), ")")

    # ---- sequences ----
    def element_var(self, src, prefix="x"):
        x = Var(self.name(prefix), src.type[1])
        if is_seq(x.type):
            x.length = src.rows or x.name
        return x

    def same_length(self, src, env, d):
        """A sequence as long as the variable src, and its element's variable."""
        others = [v for v in env if is_seq(v.type) and v.length and v.length == src.length and v is not src]
        if others and self.chance(0.5):
            v = self.rng.choice(others)
            return Node(None, v.name), self.element_var(v)
        kind = self.rng.randrange(5)
        if kind < 2 or not src.length:
            return Node(None, "length " + src.name), Var(self.name("i"), "i64", index=src.length)
        if kind == 2:
            return Node(None, "reverse " + src.name), self.element_var(src)
        if kind == 3:
            x, u = self.element_var(src), self.small_type()
            return Node(None, "{ ", self.expr(u, env + [x], d - 1), " : %s in %s }" % (x.name, src.name)), Var(self.name("x"), u)
        x = self.element_var(src)
        return Node(None, "scanx (+) 0 { ", self.expr("i64", env + [x], d - 1), " : %s in %s }" % (x.name, src.name)), Var(self.name("x"), "i64")

    def binders(self, env, d):
        """Text in front, binders, and the variables they bind."""
        rng = self.rng
        seqs = [v for v in env if is_seq(v.type)]
        if self.chance(0.25):
            count, tag = self.loop_count(env, d)
            i = Var(self.name("i"), "i64", index=tag)
            return [], [Node(None, "%s in " % i.name, count)], [i]
        before = []
        if seqs and self.chance(0.6):
            src = rng.choice(seqs[-5:])
        else:
            src, before = self.bound_expr(seq(self.source(env)), env, d)
        x = self.element_var(src)
        bs, vs = [Node(None, "%s in %s" % (x.name, src.name))], [x]
        if x.type[0] == "tup" and self.chance(0.5):
            fields = [Var(self.name("x"), u) for u in x.type[1]]
            for f in fields:
                f.length = f.name if is_seq(f.type) else None
            bs, vs = [Node(None, "(%s) in %s" % (", ".join(f.name for f in fields), src.name))], fields
        while self.chance(0.4):
            other, y = self.same_length(src, env + ([src] if before else []), d)
            bs.append(Node(None, "%s in " % y.name, other))
            vs.append(y)
        return before, bs, ([src] if before else []) + vs

    def each(self, t, env, d):
        before, bs, vs = self.binders(env, d)
        inner = env + vs
        parts = before + ["{ ", self.expr(t[1], inner, d), " : "]
        for i, b in enumerate(bs):
            parts += ["; ", b] if i else [b]
        if self.chance(0.25):
            parts += [" | ", self.condition(inner, d)]
        return Node(t, *parts, " }" + (")" if before else ""))

    def cut(self, t, env, d):
        kind = self.rng.randrange(6)
        if self.chance(0.02):
            return Node(t, "(", self.expr(t, env, d), ")[", self.small(env, d), ":]")
        if kind == 0:
            return Node(t, "(reverse ", self.expr(t, env, d), ")")
        if kind == 1:
            return Node(t, "(rotate ", self.expr("i64", env, d - 1), " ", self.expr(t, env, d), ")")
        if kind == 2:
            x = Var(self.name("x"), t[1])
            return Node(t, "{ %s in " % x.name, self.expr(t, env, d), " | ", self.condition(env + [x], d), " }")
        v, before = self.bound_expr(t, env, d)
        k = Node("i64", "(upto %s " % v.name, self.expr("i64", env + [v], d - 1), ")")
        if kind == 3:
            return Node(t, *before, "%s " % self.rng.choice(["take", "drop"]), k, " %s)" % v.name)
        if kind == 4:
            return Node(t, *before, v.name + "[", k, ":])")
        k2 = Var(self.name("k"), "i64")
        return Node(t, *before, "let %s = " % k2.name, k, " in %s[%s / 2 : %s])" % (v.name, k2.name, k2.name))

    def changed(self, t, env, d):
        kind = self.rng.randrange(5)
        u = self.source(env)
        if kind == 0:
            return Node(t, "(map ", self.function(u, t[1], env, d), " ", self.expr(seq(u), env, d), ")")
        if kind == 1:
            return Node(t, "(filter ", self.function(t[1], "bool", env, d), " ", self.expr(t, env, d), ")")
        if kind == 2:
            return Node(t, "(mapi ", self.lambda_(["i64", u], t[1], env, d), " ", self.expr(seq(u), env, d), ")")
        if kind == 3:
            v, before = self.bound_expr(seq(u), env, d)
            other, y = self.same_length(v, env + [v], d)
            if other.text().startswith("length"):
                other = Node(None, "iota (", other, ")")
            return Node(t, *before, "map2 ", self.lambda_([u, y.type], t[1], env, d), " %s (" % v.name, other, "))")
        return Node(t, "(gather ", self.expr(t, env, d), " ([] : [i64]))") if self.chance(0.1) else None

    def updated(self, t, env, d):
        exact = [(xs, i) for xs in env if xs.type == t and xs.length for i in env if i.index == xs.length]
        if exact and self.chance(0.6):
            xs, i = self.rng.choice(exact)
            return Node(t, "(%s with [%s] = " % (xs.name, i.name), self.expr(t[1], env, d), ")")
        if is_seq(t[1]) and self.chance(0.5):
            return Node(t, "(put2 ", self.expr(t, env, d), " ", self.expr("i64", env, d - 1), " ", self.expr("i64", env, d - 1), " ", self.expr(t[1][1], env, d), ")")
        return Node(t, "(put ", self.expr(t, env, d), " ", self.expr("i64", env, d - 1), " ", self.expr(t[1], env, d), ")")

    def outlived(self, t, env, d):
        """A sequence that is needed after its update: an update in place would show."""
        v, before = self.bound_expr(t, env, d)
        w = Var(self.name("w"), t, v.length)
        use = self.rng.choice(["%s ++ %s", "if length %s == 3 then %s else W", "interleave %s %s"]).replace("W", w.name)
        new = self.updated(t, env + [v, v, v], d) if self.chance(0.3) else Node(t, "(put %s " % v.name, self.expr("i64", env, d - 1), " ", self.expr(t[1], env, d), ")")
        first, second = self.rng.choice([(v.name, w.name), (w.name, v.name)])
        return Node(t, *before, "let %s = " % w.name, new, " in %s)" % (use % (first, second)))

    def scanned(self, t, env, d):
        op, ne, _ = self.operator(t[1])
        if not op:
            return None
        return Node(t, "(%s " % self.rng.choice(["scan", "scanx"]), op, " ", ne, " ", self.expr(t, env, d), ")")

    def rearranged(self, t, env, d):
        if is_ord(t[1]) and self.chance(0.6):
            names = ["sort", "sort", "unique"] + (["quick"] if is_scalar(t[1]) and t[1] not in ("bool", "f32", "f64") else [])
            return Node(t, "(%s " % self.rng.choice(names), self.expr(t, env, d), ")")
        kind = self.rng.randrange(4)
        if kind == 0:
            return Node(t, "(sort_by ", self.function(t[1], self.ordered(), env, d), " ", self.expr(t, env, d), ")")
        if kind == 1:
            v, before = self.bound_expr(t, env, d)
            i = Var(self.name("i"), "i64")
            return Node(t, *before, "gather %s { ((" % v.name, self.expr("i64", env + [v, i], d - 1), ") & 255) %% length %s : %s in length %s })" % (v.name, i.name, v.name))
        if kind == 2:
            v, before = self.bound_expr(t, env, d)
            return Node(t, *before, "interleave %s (reverse %s))" % (v.name, v.name))
        return Node(t, "(partition2 ", self.function(t[1], "bool", env, d), " ", self.expr(t, env, d), ").1")

    def parted(self, t, env, d):
        name = self.rng.choice(["partition", "span"])
        return Node(t, "(%s " % name, self.function(t[1], "bool", env, d), " ", self.expr(t, env, d), ").%d" % self.rng.randrange(2))

    def scattered(self, t, env, d):
        if self.chance(0.4):
            op, ne, _ = self.operator(t[1], commutative=True)
            if op:
                v, before = self.bound_expr(t, env, d)
                i, x = Var(self.name("i"), "i64", index=v.length), self.element_var(v)
                return Node(t, *before, "reduce_by_index ", op, " ", ne, " ", self.small(env, d, 7), " { ((", self.expr("i64", env + [i, x], d - 1),
                            ") & 7) - 1 : %s in length %s; %s in %s } %s)" % (i.name, v.name, x.name, v.name, v.name))
        v, before = self.bound_expr(t, env, d)
        i = self.name("i")
        index = self.rng.choice(["{ %s * 2 - 1 : %s in length %s }" % (i, i, v.name), "{ length %s - 1 - %s : %s in length %s }" % (v.name, i, i, v.name),
                                 "{ i32 %s + 1 : %s in length %s }" % (i, i, v.name), "(iota (length %s))" % v.name])
        if is_ord(t[1]) and self.chance(0.3):
            index = "(argsort %s)" % v.name
        return Node(t, *before, "scatter ", self.expr(t, env, d), " %s %s)" % (index, v.name))

    def flattened(self, t, env, d):
        return Node(t, "(%s " % self.rng.choice(["flatten", "flatten", "concat"]), self.expr(seq(t), env, d), ")")

    def appended(self, t, env, d):
        if self.chance(0.4):
            return self.listed(t, "[", [self.expr(t[1], env, d) for _ in range(self.rng.randint(1, 3))], "]")
        return Node(t, "(", self.expr(t, env, d), " ++ ", self.expr(t, env, d), ")")

    def replicated(self, t, env, d):
        return Node(t, "(replicate ", self.small(env, d), " ", self.expr(t[1], env, d), ")")

    def counting(self, t, env, d):
        kind = self.rng.randrange(6)
        if kind == 0:
            return Node(t, "(iota ", self.small(env, d), ")")
        if kind == 1:
            return Node(t, "((", self.expr("i64", env, d - 1), " & 3)..<(", self.expr("i64", env, d - 1), " & 7))")
        if kind == 2:
            return Node(t, "(histogram ", self.small(env, d, 7), " ", self.expr(seq(self.rng.choice(INTS)), env, d), ")")
        if kind == 3:
            return Node(t, "(replicated_iota { (", self.expr("i64", env, d - 1), ") & 3 : _ in ", self.expr(seq(self.small_type()), env, d), " })")
        if kind == 4:
            return Node(t, "(lengths_from_flags ", self.expr(seq("bool"), env, d), ")")
        return Node(t, "{ length r : r in ", self.expr(seq(seq(self.small_type())), env, d), " }")

    def argsorted(self, t, env, d):
        return Node(t, "(argsort ", self.expr(seq(self.ordered()), env, d), ")")

    def special(self, t, env, d):
        """What fits the type of the elements."""
        u = t[1]
        if u == "bool" and self.chance(0.5):
            return Node(t, "(segment_flags { (", self.expr("i64", env, d - 1), ") & 3 : _ in ", self.expr(seq(self.small_type()), env, d), " })")
        if u[0] == "tup" and len(u[1]) == 3 and self.chance(0.3) and is_ord(u[1][0]):
            k, a, b = u[1]
            return Node(t, "(join ", self.expr(seq(tup(k, a)), env, d), " ", self.expr(seq(tup(k, b)), env, d), ")")
        if u[0] != "tup" or len(u[1]) != 2:
            return None
        a, b = u[1]
        if is_ord(a) and is_seq(b) and self.chance(0.7):
            return Node(t, "(group_by ", self.function(b[1], a, env, d), " ", self.expr(b, env, d), ")")
        if is_ord(a) and b == "i64" and self.chance(0.5):
            return Node(t, "(run_lengths ", self.expr(seq(a), env, d), ")")
        if a == "i64" and self.chance(0.5):
            return Node(t, "(enumerate ", self.expr(seq(b), env, d), ")")
        if a == b and self.chance(0.5):
            return Node(t, "(pairs ", self.expr(seq(a), env, d), ")")
        if self.chance(0.3):
            return Node(t, "(cartesian (upfront ", self.expr(seq(a), env, d), ") ", self.expr(seq(b), env, d), ")")
        v, before = self.bound_expr(seq(a), env, d)
        x, i = self.element_var(v), Var(self.name("i"), "i64", index=v.length)
        return Node(t, *before, "zip %s { " % v.name, self.expr(b, env + [v, x, i], d), " : %s in %s; %s in length %s })" % (x.name, v.name, i.name, v.name))

    def nested(self, t, env, d):
        u = t[1]
        kind = self.rng.randrange(7)
        if kind == 0:
            v, before = self.bound_expr(u, env, d)
            k = self.name("k")
            return Node(t, *before, "let %s = upto %s " % (k, v.name), self.expr("i64", env + [v], d - 1), " in nest %s [%s, length %s - %s])" % (v.name, k, v.name, k))
        if kind == 1:
            ls, i = Var(self.name("v"), seq("i64")), Var(self.name("i"), "i64")
            return Node(t, "(let %s = { (" % ls.name, self.expr("i64", env, d - 1), " + z) & 3 : z in ", self.small(env, d, 7), " } in nest { ",
                        self.expr(u[1], env + [i], d), " : %s in sum %s } %s)" % (i.name, ls.name, ls.name))
        if kind == 2:
            k = self.ordered()
            return Node(t, "{ g : (_, g) in group_by ", self.function(u[1], k, env, d), " ", self.expr(u, env, d), " }")
        if kind == 3:
            v, before = self.bound_expr(u, env, d)
            text = self.rng.choice(["{ %s[: i & 7 %% (length %s + 1)] : i in length %s }", "{ %s[i : min (i + 3) (length %s)] : i in length %s }",
                                    "{ %s[i / 2 : min (i + i %% 4) (length %s)] : i in length %s }"])
            return Node(t, *before, text.replace("%s", v.name).replace("%%", "%"), ")")
        if kind == 4:
            i, j = Var(self.name("i"), "i64"), Var(self.name("j"), "i64")
            return Node(t, "{ { ", self.expr(u[1], env + [i, j], d), " : %s in %s %% 4 } : %s in " % (j.name, i.name, i.name), self.small(env, d, 7), " }")
        if kind == 5:
            return Node(t, "[", self.expr(u, env, d), ", ", self.expr(u, env, d), "]")
        return Node(t, "{ r in ", self.expr(t, env, d), " | length r %s }" % self.rng.choice(["> 0", "% 2 == 0", "> 1", "< 3"]))

    def regular(self, t, env, d):
        """All rows equally long."""
        u = t[1][1]
        vs = [v for v in env if v.type == t and v.rows]
        if vs and self.chance(0.4 if d > 0 else 0.9):
            return Node(t, self.rng.choice(vs).name)
        kind = self.rng.randrange(8) if d > 0 and self.fuel > 0 else 7
        self.fuel -= 1
        if kind == 0:
            return Node(t, "(transpose ", self.regular(t, env, d - 1), ")")
        if kind == 1:
            return Node(t, "(replicate ", self.small(env, d), " ", self.expr(t[1], env, d), ")")
        if kind == 2:
            i = Var(self.name("i"), "i64")
            n, m = self.name("n"), self.name("n")
            return Node(t, "(let (%s, %s) = (" % (n, m), self.small(env, d), ", ", self.small(env, d), ") in unflatten %s %s { " % (n, m),
                        self.expr(u, env + [i], d), " : %s in %s * %s })" % (i.name, n, m))
        if kind == 3:
            w = self.rng.choice([v for v in env if v.rows] or [Var("", seq(seq(self.small_type())))]).type[1][1]
            row, x = Var(self.name("r"), seq(w)), Var(self.name("x"), w)
            row.length = row.name
            i = Var(self.name("i"), "i64", index=row.name)
            return Node(t, "{ { ", self.expr(u, env + [row, i, x], d), " : %s in %s; %s in length %s } : %s in " % (x.name, row.name, i.name, row.name, row.name),
                        self.regular(seq(seq(w)), env, d - 1), " }")
        if kind == 4:
            row = Var(self.name("r"), t[1])
            op = self.rng.choice(["reverse %s", "rotate 1 %s", "put %s 1 @", "put %s 0 @", "scatter %s [0, 1] [@, @]",
                                  "loop q = %s for k < length %s do q with [k] = @"])
            parts = ["{ "]
            for i, piece in enumerate(op.replace("%s", row.name).split("@")):
                parts += [self.expr(u, env + [row], d - 1), piece] if i else [piece]
            return Node(t, *parts, " : %s in " % row.name, self.regular(t, env, d - 1), " }")
        if kind == 5:
            op, ne, _ = self.operator(u)
            if op:
                return Node(t, "{ %s " % self.rng.choice(["scan", "scanx"]), op, " ", ne, " r : r in ", self.regular(t, env, d - 1), " }")
        if kind == 6 and is_ord(u):
            return Node(t, "{ sort r : r in ", self.regular(t, env, d - 1), " }")
        i, j = Var(self.name("i"), "i64"), Var(self.name("j"), "i64")
        m = self.name("n")
        count, tag = self.loop_count(env, d)
        i.index = tag
        return Node(t, "(let %s = " % m, self.small(env, d), " in { { ", self.expr(u, env + [i, j], d), " : %s in %s } : %s in " % (j.name, m, i.name), count, " })")

    # ---- functions ----
    def make_function(self):
        r = self.type(2)
        name = self.name("g")
        kind = self.rng.randrange(6)
        self.fuel = self.rng.randint(4, 14)
        head = lambda ps: "def %s %s : %s =\n  " % (name, " ".join("(%s: %s)" % (p.name, type_text(p.type)) for p in ps), type_text(r))
        if kind < 2:
            ps = [Var(self.name("a"), self.type(1)) for _ in range(self.rng.choice([1, 1, 2]))]
            self.program.definitions.append(Node(None, head(ps), self.expr(r, ps, 3), "\n"))
            self.functions.append(Function(name, [p.type for p in ps], r))
            return
        if kind == 5:
            return self.make_divided(name, r, head)
        n, a = Var(self.name("n"), "i64"), Var(self.name("a"), self.small_type())
        a.length = a.name if is_seq(a.type) else None
        env, f = [n, a], Function(name, ["i64", a.type], r, True)
        again = lambda less: [name + " (%s - %d) " % (n.name, less), self.expr(a.type, env, 2)]
        body = [head([n, a]), "if %s <= 0 then " % n.name, self.expr(r, env, 2), " else "]
        if kind == 2:
            q = Var(self.name("q"), r)
            body += ["let %s = " % q.name] + again(1) + [" in ", self.expr(r, env + [q], 2)]
        elif kind == 3:
            qs, j = Var(self.name("q"), seq(r)), Var(self.name("j"), "i64")
            body += ["let %s = { %s (%s - 1 - %s) " % (qs.name, name, n.name, j.name), self.expr(a.type, env + [j], 2), " : %s in %s } in " % (
                j.name, self.rng.choice(["2", "2", n.name])), self.expr(r, env + [qs], 2)]
        else:
            body += ["if ", self.condition(env, 1), " then "] + again(1) + [" else ", "let q = "] + again(2) + [" in ", self.expr(r, env + [Var("q", r)], 2)]
        self.program.definitions.append(Node(None, *body, "\n"))
        self.functions.append(f)

    def make_divided(self, name, r, head):
        xs = Var(self.name("a"), seq(self.small_type()))
        xs.length = xs.name
        a, b = Var(self.name("q"), r), Var(self.name("q"), r)
        self.program.definitions.append(Node(None, head([xs]), "if length %s < 2 then " % xs.name, self.expr(r, [xs], 2), " else let h = length %s / 2 in let %s = %s %s[:h] in let %s = %s %s[h:] in " % (
            xs.name, a.name, name, xs.name, b.name, name, xs.name), self.expr(r, [xs, a, b], 2), "\n"))
        self.functions.append(Function(name, [xs.type], r))

    # ---- entries and inputs ----
    def parameters(self):
        """Texts, variables, types, and how sizes go together: one list of size names per parameter."""
        texts, env, types, sizes = [], [], [], []
        n, m = self.name("n"), self.name("m")

        def add(t, dims):
            v = Var(self.name("p"), t)
            if is_seq(t):
                v.length = dims[0] if dims and dims[0] else v.name
                v.rows = dims[1] if len(dims) > 1 and dims[1] else None
            inner = t
            for _ in dims:
                inner = inner[1]
            texts.append("(%s: %s%s)" % (v.name, "".join("[%s]" % s for s in dims), type_text(inner)))
            env.append(v)
            types.append(t)
            sizes.append(dims)

        for _ in range(self.rng.choice([1, 1, 2, 2, 3])):
            kind = self.rng.randrange(9)
            if kind == 0:
                add(self.scalar(), [])
            elif kind == 1:
                add(seq(self.scalar()), [])
            elif kind == 2:
                add(seq(self.small_type()), [n])
            elif kind == 3:
                add(seq(seq(self.small_type())), [n, m])
            elif kind == 4:
                add(seq(seq(self.scalar())), [m, n])
            elif kind == 5:
                add(seq(seq(self.type(1))), [])
            elif kind == 6:
                add(seq(self.type(2)), [])
            elif kind == 7:
                add(seq(seq("i64")), [])
            else:
                add(self.type(3), [])
        for s in sorted({s for dims in sizes for s in dims}):
            env.insert(0, Var(s, "i64"))
        return texts, env, types, sizes

    def value(self, t, lengths, dims, sizes):
        rng = self.rng
        if t == "bool":
            return rng.random() < 0.5
        if t in ("f32", "f64"):
            return rng.choice([0.0, 1.5, -2.25, float(rng.randint(-20, 20)), 0.25 * rng.randint(0, 400)])
        if is_scalar(t):
            low, high = {"u": (0, 1 << int(t[1:])), "i": (-(1 << int(t[1:]) - 1), 1 << int(t[1:]) - 1)}[t[0]]
            if rng.random() < 0.03:
                return rng.choice([low, high - 1])
            return rng.randint(0 if t[0] == "u" else -10, 20)
        if is_seq(t):
            n = sizes.get(dims[0]) if dims else None
            if n is None:
                n = lengths(rng)
                if dims:
                    sizes[dims[0]] = n
            return [self.value(t[1], lengths, dims[1:], sizes) for _ in range(n)]
        if t[0] == "sum":
            c, p = rng.choice(self.program.sums[t[1]])
            return (c, self.value(p, lambda r: min(lengths(r), 4), [], sizes) if p else None)
        return tuple(self.value(u, lengths, [], sizes) for u in parts_of(t))

    def inputs(self, types, sizes):
        rng = self.rng
        fixed = rng.randint(2, 5)
        styles = [lambda r: 0, lambda r: 1, lambda r: fixed, lambda r: r.choice([0, 1, 2, 3, 5, 8]), lambda r: r.choice([0, 0, 1, 4, 9, 13])]
        made = []
        for style in styles:
            got = {}
            made.append([self.value(t, style, dims, got) for t, dims in zip(types, sizes)])
        if self.chance(0.3):
            deepest = max(nesting(t) for t in types)
            style = lambda r: r.choice([1, 2, 40, 60]) if deepest > 1 else r.choice([2100, 3000, 4096])
            if deepest < 3:
                got = {}
                made.append([self.value(t, style, dims, got) for t, dims in zip(types, sizes)])
        return made

    def make_entry(self, i):
        texts, env, types, sizes = self.parameters()
        self.fuel = self.rng.choice([8, 14, 20, 30, 45])
        r, d = self.type(3), self.rng.choice([3, 4, 5, 6])
        if any(is_seq(v.type) for v in env) and self.chance(0.7):
            r = seq(self.type(2))
            body = self.each(r, env, d)
        else:
            body = self.expr(r, env, d)
        return Entry("e%d" % i, texts, types, self.inputs(types, sizes), body, r)

    def make(self, entries):
        self.make_sums()
        self.pool = ["i64", seq("i64"), seq(seq("i64"))] + [self.type(2) for _ in range(3)]
        for _ in range(self.rng.randint(2, 5)):
            self.make_function()
        self.program.entries = [self.make_entry(i) for i in range(entries)]
        return self.program


def nesting(t):
    if is_scalar(t) or t[0] == "sum":
        return 0
    if t[0] == "seq":
        return 1 + nesting(t[1])
    return max(nesting(u) for u in parts_of(t))


def value_text(v, t, sums):
    if t == "bool":
        return "true" if v else "false"
    if is_scalar(t):
        return repr(v)
    if is_seq(t):
        return "[%s]" % ", ".join(value_text(x, t[1], sums) for x in v)
    if t[0] == "tup":
        return "(%s)" % ", ".join(value_text(x, u, sums) for x, u in zip(v, t[1]))
    if t[0] == "rec":
        return "{%s}" % ", ".join("%s = %s" % (n, value_text(x, u, sums)) for x, (n, u) in zip(v, t[1]))
    c, x = v
    payload = dict(sums[t[1]])[c]
    return "#%s %s" % (c, value_text(x, payload, sums)) if payload else "#" + c
