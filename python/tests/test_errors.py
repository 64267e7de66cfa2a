"""Exceptions: of the compiler, of the program, of memory and devices."""
import gc
import threading
import traceback

import numpy as np
import pytest

import dpc


def test_compile_error():
    source = "entry main (x: i64) : bool = x + 1\n"
    with pytest.raises(dpc.CompileError) as caught:
        dpc.compile(source, "wrong.dp")
    error = caught.value
    assert isinstance(error, SyntaxError) and isinstance(error, dpc.Error)
    assert (error.filename, error.lineno, error.text) == ("wrong.dp", 1, source.rstrip())
    first = error.diagnostics[0]
    assert first.level == "error" and first.code.startswith("E") and first.file == "wrong.dp" and first.line == 1
    assert source[first.column - 1 :].startswith("x + 1"[: first.width])
    assert str(error).startswith(f"wrong.dp:1:{first.column}: error: ")
    shown = "".join(traceback.format_exception_only(type(error), error))
    assert 'File "wrong.dp", line 1' in shown and "x + 1" in shown and "^" in shown and first.message in shown


def test_several_errors():
    with pytest.raises(dpc.CompileError) as caught:
        dpc.compile("def a = b\ndef c = d\nentry main = a + c\n")
    levels = [d.level for d in caught.value.diagnostics]
    assert levels.count("error") == 2 and "(and 1 more)" in caught.value.msg


def test_columns_of_errors_are_characters():
    with pytest.raises(dpc.CompileError) as caught:
        dpc.compile('entry main = length "ééé" + nope\n')
    assert caught.value.text[caught.value.offset - 1 :].startswith("nope")


def test_notes():
    with pytest.raises(dpc.CompileError) as caught:
        dpc.compile("type list = #nil | #cons (i64, list)\nentry main = 1\n")
    error = caught.value.diagnostics[0]
    assert error.notes and error.notes[0].level == "note" and error.notes[0].line == 1


def test_warnings():
    source = "entry main (x: i64) : i64 = let y = x in x\n"
    with pytest.warns(dpc.CompileWarning, match="`y`") as caught:
        m = dpc.compile(source, "warned.dp")
    (warned,) = caught
    assert (warned.filename, warned.lineno) == ("warned.dp", 1)
    (d,) = m.diagnostics
    assert d.level == "warning" and d.code.startswith("W") and d.column == 33 and m.main(1) == 1
    assert dpc.compile("entry main = 1").diagnostics == []


def test_no_file():
    with pytest.raises(dpc.CompileError, match="cannot read /nowhere/f.dp"):
        dpc.load("/nowhere/f.dp")


def test_load(tmp_path):
    (tmp_path / "half.dp").write_text("def half (x: f64) : f64 = x / 2.0\n")
    (tmp_path / "main.dp").write_text('import "half"\nentry main (x: f64) : f64 = half x\n')
    assert dpc.load(tmp_path / "main.dp").main(3) == 1.5
    assert dpc.compile('import "half"\nentry main = half 1.0', tmp_path / "other.dp").main() == 0.5


def test_zero_bytes():
    with pytest.raises(ValueError, match="zero"):
        dpc.compile("entry main = 1\0 + ")


def test_run_error():
    m = dpc.compile("entry main (xs: [i64]) (i: i64) : i64 =\n  xs[i]\n", "pick.dp")
    for _ in range(2):
        with pytest.raises(dpc.RunError) as caught:
            m.main([1, 2, 3], 3)
        error = caught.value
        assert (error.file, error.line, error.message) == ("pick.dp", 2, "index 3 out of bounds for length 3")
        assert str(error).startswith(f"pick.dp:2:{error.column}: error: index 3 out of bounds for length 3")
        assert m.main([1, 2, 3], 2) == 3  # and goes on


def test_memory():
    m = dpc.compile("entry main (n: i64) : i64 = (sort { x * x % 1000 : x in n })[n / 2]", memory=64 << 20)
    with pytest.raises(MemoryError) as caught:
        m.main(1 << 32)
    assert isinstance(caught.value, dpc.OutOfMemory)
    assert m.main(10) == 25


def test_no_device():
    m = dpc.compile("entry main = 1", device="no such device")
    with pytest.raises(dpc.DeviceError, match="no such device"):
        m.main()
    assert dpc.compile("entry main = 1").open().main() == 1


def test_wrong_options():
    with pytest.raises(ValueError, match="no_such_parameter"):
        dpc.compile("entry main = 1", params="no_such_parameter=1").main()


def test_threads():
    """One module for several threads, and one for each."""
    m = dpc.compile("entry main (xs: [i64]) : i64 = sum xs")
    wrong = []

    def work(own):
        with own:
            for i in range(30):
                if own.main(np.arange(i)) != i * (i - 1) // 2:
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(own,)) for own in (m.open(), m.open(), m, m)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_lifetimes():
    """Entries and results outlive their module; a closed one opens again."""
    main = dpc.compile("entry main (n: i64) : [i64] = iota n").main
    gc.collect()
    result = main(3)
    del main
    gc.collect()
    assert result.tolist() == [0, 1, 2]
    with dpc.compile("entry main = 1") as m:
        assert m.main() == 1
    assert m.main() == 1
