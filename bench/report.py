"""What becomes of the numbers of bench/run: a table in Markdown, a file of JSON, plots by gnuplot; and values for Futhark's programs."""
import json
import os
import shutil
import subprocess
import sys

HEADINGS = ["work", "n", "dpc, ms", "GB/s", "of copy", "floor", "best peer", "on the device", "by", "dpc / best", "mark", "agrees"]


def head(run):
    ceiling = f"{run['ceiling_gbs']:.1f} GB/s" if run["ceiling_gbs"] else "not measured"
    return (f"{run['device']} ({run['machine']}), {run['date']}, dpc {run['commit']}, medians of {run['repeat']}; copy {ceiling}\n\n"
            f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")


def short(number):
    """Three digits that count."""
    if number is None:
        return ""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def size(n):
    power = len(str(n)) - 1
    digits = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    first = n / 10 ** power
    return f"10{digits}" if n == 10 ** power else f"{first:.3g}·10{digits}"


def best_peer(entry):
    """The fastest peer whose result agrees: its time by the host's clock, as dpc's is, by the device's, and its name."""
    good = [(wall(peer), peer["ms"], name) for name, peer in entry["peers"].items() if "ms" in peer and not peer.get("differs")]
    return min(good) if good else (None, None, "")


def wall(peer):
    return peer.get("wall_ms", peer.get("ms"))


def floor(run, entry):
    """Milliseconds in which a copy moves as many bytes; None where they do not say anything."""
    return entry["bytes"] / run["ceiling_gbs"] / 1e6 if entry.get("bytes") and run["ceiling_gbs"] else None


def line(run, entry):
    if "error" in entry:
        return f"| {entry['work']} | {size(entry['n'])} | **{entry['error']}** |" + " |" * (len(HEADINGS) - 3)
    ms, data = entry["dpc_ms"], entry.get("bytes")
    ceiling = run["ceiling_gbs"]
    best, device, by = best_peer(entry)
    mark = entry.get("mark")
    wrong = [name for name, peer in entry["peers"].items() if peer.get("error") or peer.get("differs")]
    cells = [entry["work"], size(entry["n"]), short(ms), short(data / ms / 1e6) if data else "",
             f"{100 * data / ms / 1e6 / ceiling:.0f} %" if data and ceiling else "",
             short(floor(run, entry)), short(best), short(device) if device != best else "", by, short(ms / best) if best else "",
             "" if mark is None else f"{short(mark)} met" if ms <= mark else f"{short(mark)} ({short(ms / mark)}×)",
             f"**not {', '.join(wrong)}**" if wrong else "yes" if entry["peers"] else "alone"]
    return f"| {' | '.join(cells)} |"


def table(run):
    return "\n".join([head(run)] + [line(run, entry) for entry in run["rows"]])


def write(path, run):
    """Complete or not at all: the run may be cut off."""
    part = f"{path}.part"
    with open(part, "w") as to:
        json.dump(run, to, indent=1, ensure_ascii=False)
        to.write("\n")
    os.replace(part, path)


# ---- plots ----

COLUMNS, WIDTH, HEIGHT = 4, 330, 250  # panels side by side, and the pixels of one

PLOTS = """set terminal svg size {width},{height} font 'sans,10' background 'white'
set output '{output}'
set multiplot layout {rows},{columns} title '{title}' font 'sans,14'
set logscale xy
set xrange [500:2e8]
set format x '10^{{%L}}'
set format y '10^{{%L}}'
set mxtics 1
set mytics 1
set key left top samplen 1
set grid
"""


def panel(number, entries):
    """A row's curves: the floor, the peers that agree, and dpc."""
    curves = {"as a copy": [(e["n"], e["floor_ms"]) for e in entries if e.get("floor_ms")]}
    for e in entries:
        for peer, spent in e["peers"].items():
            if wall(spent) and not spent.get("differs"):
                curves.setdefault(peer, []).append((e["n"], wall(spent)))
    curves["dpc"] = [(e["n"], e["dpc_ms"]) for e in entries]
    curves = {name: points for name, points in curves.items() if points}
    styles = {"dpc": "linespoints linewidth 2 linecolor 'black' pointtype 7 pointsize 0.4", "as a copy": "lines dashtype 2 linecolor 'gray'"}
    blocks = "".join(f"$c{number}_{i} << EOD\n" + "".join(f"{n} {ms}\n" for n, ms in points) + "EOD\n"
                     for i, points in enumerate(curves.values()))
    drawn = ", ".join(f"$c{number}_{i} with {styles.get(name, 'lines')} title '{name}' noenhanced" for i, name in enumerate(curves))
    title = entries[0]["work"].replace("'", "’")
    measured = [ms for name, points in curves.items() if name != "as a copy" for n, ms in points]
    least, most = min(measured), max(measured)
    room = (most / least) ** (0.14 * len(curves))  # above the curves, for their names
    return f"{blocks}set title '{title}' noenhanced\nset yrange [{least / 2}:{most * max(room, 2)}]\nplot {drawn}\n"


def plots(run, folder):
    """Milliseconds by the host's clock against n, a panel for each row with at least three sizes: DIR/cpu.svg or gpu.svg."""
    if not shutil.which("gnuplot"):
        print("no plots: gnuplot is not installed (Debian: gnuplot-nox)", file=sys.stderr)
        return
    rows = {}
    for entry in run["rows"]:
        if "dpc_ms" in entry:
            rows.setdefault(entry["row"], []).append({**entry, "floor_ms": floor(run, entry)})
    drawn = [sorted(entries, key=lambda e: e["n"]) for entries in rows.values() if len(entries) >= 3]
    if not drawn:
        print("no plots: no row has three sizes (--sizes)", file=sys.stderr)
        return
    os.makedirs(folder, exist_ok=True)
    lines = -(-len(drawn) // COLUMNS)
    head_of = f"{run['device'].split(': ')[-1][:60]}, {run['date']}, ms against n".replace("'", "’")
    script = PLOTS.format(width=COLUMNS * WIDTH, height=lines * HEIGHT + 40, rows=lines, columns=COLUMNS, title=head_of,
                          output=os.path.join(folder, f"{run['class'].lower()}.svg"))
    script += "".join(panel(k, entries) for k, entries in enumerate(drawn))
    subprocess.run(["gnuplot"], input=script.encode(), check=True)


# ---- Futhark's binary format ----

FUTHARK_TYPES = {"i4": b" i32", "u4": b" u32", "i8": b" i64", "f4": b" f32", "f8": b" f64", "b1": b"bool"}


def futhark_value(argument, to):
    """Writes a .npy file, or a number as an i64, to the stream."""
    if isinstance(argument, str):
        to.write(b"b\x02\x00 i64" + int(argument).to_bytes(8, "little"))
        return
    with open(argument, "rb") as source:
        header = source.read(128).decode("latin-1")
        kind = header.split("'descr': '")[1][1:3]
        dims = [int(d) for d in header.split("'shape': (")[1].split(")")[0].split(",") if d.strip()]
        to.write(b"b\x02" + bytes([len(dims)]) + FUTHARK_TYPES[kind] + b"".join(d.to_bytes(8, "little") for d in dims))
        shutil.copyfileobj(source, to, 1 << 20)
