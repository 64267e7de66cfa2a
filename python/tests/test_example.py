"""examples/embedding/python, as its own first line calls it."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "embedding" / "python" / "pagerank.py"


def run(folder, *words):
    environment = {**os.environ, "MPLCONFIGDIR": str(folder), "PYTHONPATH": str(EXAMPLE.parents[3] / "python")}
    command = [sys.executable, str(EXAMPLE), *map(str, words)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(autouse=True)
def needs():
    for name in ("scipy", "matplotlib"):
        pytest.importorskip(name)


def test_made_web(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.match(r"pagerank.mtx: 20000 pages, 142087 links, \d+ rounds in ", done.stdout), done.stdout
    assert "  page 0: rank 0.137058, 6450 links to it\n" in done.stdout
    picture = (tmp_path / "pagerank.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000


def test_given_matrix(tmp_path):
    """0 and 1 link to 2, which links to nothing; entries of the diagonal and repeated ones are no links more."""
    (tmp_path / "m.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 3 1\n2 3 4\n2 3 0.5\n3 3 1\n1 1 2\n"
    )
    done = run(tmp_path, "m.mtx", "-o", "p.png")
    assert done.returncode == 0, done.stderr
    assert "m.mtx: 3 pages, 2 links, " in done.stdout and "page 2: rank 0.574468, 2 links to it" in done.stdout
    (tmp_path / "wide.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n")
    assert "1 rows and 2 columns" in run(tmp_path, "wide.mtx").stderr
