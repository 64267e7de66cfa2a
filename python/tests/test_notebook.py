"""Pages of dpc explain, and the magic of notebooks."""
import html
import re

import pytest

import dpc

SOURCE = "entry main (xs: [i64]) (i: i64) : i64 = xs[i]\nentry other = 1\n"


def test_pages(tmp_path):
    m = dpc.compile(SOURCE, "pick.dp")
    page = m.explain()
    assert page.lstrip().lower().startswith("<!doctype html>") and "pick.dp" in page
    assert "[7, 8] 1" in m.main.explain([7, 8], 1) and "[7, 8] 1" not in page
    assert "index 2 out of bounds for length 2" in m.main.explain([7, 8], i=2)
    with pytest.raises(TypeError, match="argument i of main"):
        m.main.explain([7, 8], "x")
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_html_of_a_module():
    m = dpc.compile(SOURCE)
    shown = m._repr_html_()
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" style="[^"<>]*"></iframe>', shown, re.S)
    assert frame and html.unescape(frame[1]) == m.explain()


def test_page_of_a_file(tmp_path):
    (tmp_path / "f.dp").write_text(SOURCE)
    assert "out of bounds" in dpc.load(tmp_path / "f.dp").main.explain([7], 1)


@pytest.fixture
def shell():
    pytest.importorskip("IPython")
    from IPython.testing.globalipapp import get_ipython

    shell = get_ipython()
    shell.run_line_magic("load_ext", "dpc")
    return shell


def test_magic(shell, capsys):
    shell.run_cell_magic("dp", "", SOURCE)
    assert shell.user_ns["main"]([4, 5], 1) == 5 and shell.user_ns["other"]() == 1
    shell.run_cell_magic("dp", "picks --params segreduce=lane", SOURCE)
    assert shell.user_ns["picks"].main([4, 5], 0) == 4
    assert isinstance(shell.run_cell_magic("dp", "--explain", SOURCE), dpc.Page)
    assert shell.run_cell_magic("dp", "", "entry main = nothing") is None
    assert "<cell>:1:14: error: " in capsys.readouterr().err
    with pytest.raises(ValueError, match="usage"):
        shell.run_cell_magic("dp", "--wrong", SOURCE)
