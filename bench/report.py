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
             short(data / ceiling / 1e6) if data and ceiling else "", short(best), short(device) if device != best else "", by, short(ms / best) if best else "",
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

PLOT = """set terminal svg size 640,420 font 'sans,12' background 'white'
set output '{output}'
set logscale xy
set format x '10^{{%L}}'
set format y '10^{{%L}}'
set xlabel 'n'
set ylabel 'milliseconds'
set key left top
set grid
set title '{title}'
plot {curves}
"""


def plots(run, folder):
    """Time by the host's clock against n, for each row with at least three sizes: dpc and the peers that agree."""
    if not shutil.which("gnuplot"):
        print("no plots: gnuplot is not installed (Debian: gnuplot-nox)", file=sys.stderr)
        return
    os.makedirs(folder, exist_ok=True)
    for name in dict.fromkeys(entry["row"] for entry in run["rows"]):
        entries = sorted((e for e in run["rows"] if e["row"] == name and "dpc_ms" in e), key=lambda e: e["n"])
        if len(entries) < 3:
            continue
        curves = {"dpc": [(e["n"], e["dpc_ms"]) for e in entries]}
        for e in entries:
            for peer, spent in e["peers"].items():
                if wall(spent) and not spent.get("differs"):
                    curves.setdefault(peer, []).append((e["n"], wall(spent)))
        blocks = "".join(f"${'c%d' % i} << EOD\n" + "".join(f"{n} {ms}\n" for n, ms in points) + "EOD\n"
                         for i, points in enumerate(curves.values()))
        drawn = ", ".join(f"$c{i} with linespoints linewidth {2 if peer == 'dpc' else 1} title '{peer}' noenhanced"
                          for i, peer in enumerate(curves))
        output = os.path.join(folder, f"{name}_{run['class'].lower()}.svg")
        title = f"{entries[0]['work']}: {run['device'].split(': ')[-1][:40]}, {run['date']}".replace("'", "’")
        subprocess.run(["gnuplot"], input=(blocks + PLOT.format(output=output, title=title, curves=drawn)).encode(), check=True)


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
