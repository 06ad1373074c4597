"""Standard output carries the program's answers and nothing else, whatever it is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
print("before")
from localdb_core.host.stdout import divert_stdout
out = divert_stdout()
print("printed")
os.write(1, b"written\\n")
os.system("echo from a child")
out.write("answer \\u00e4 \\udcff\\n")
assert divert_stdout() is out
assert out.fileno() > 2
sys.__stdout__ and sys.__stdout__.write("old stream\\n")
"""

NOISE = ("printed", "written", "from a child", "old stream")
ANSWER = "before\nanswer ä \\udcff\n"


def run(**options) -> subprocess.CompletedProcess[bytes]:
    """The program above, with the C locale to show that it does not matter."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LC_ALL": "C"}
    env |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    return subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], env=env, check=False, timeout=60, **options
    )


def test_into_a_pipe() -> None:
    done = run(capture_output=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == ANSWER
    for line in NOISE:
        assert line in done.stderr.decode()


def test_into_a_file(tmp_path) -> None:
    target = tmp_path / "out.txt"

    with target.open("wb") as file:
        done = run(stdout=file, stderr=subprocess.PIPE)

    assert done.returncode == 0, done.stderr
    assert target.read_text("utf-8") == ANSWER


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_onto_a_terminal() -> None:
    import pty

    main, terminal = pty.openpty()

    done = run(stdout=terminal, stderr=subprocess.PIPE)
    os.close(terminal)
    shown = os.read(main, 4096).decode().replace("\r\n", "\n")
    os.close(main)

    assert done.returncode == 0, done.stderr
    assert shown == ANSWER


@pytest.mark.skipif(sys.platform == "win32", reason="closes descriptors before exec")
@pytest.mark.parametrize("closed", [(1,), (0, 1), (1, 2), (0, 1, 2)])
def test_with_descriptors_closed(closed, tmp_path) -> None:
    def close() -> None:
        for descriptor in closed:
            os.close(descriptor)

    if 2 in closed:
        done = run(preexec_fn=close)
    else:
        done = run(stderr=subprocess.PIPE, preexec_fn=close)
        assert b"printed" in done.stderr
        assert b"answer" not in done.stderr

    assert done.returncode == 0


def test_a_reader_that_goes_away_ends_nothing_badly() -> None:
    program = PROGRAM.replace("import os, sys", "import os, sys; sys.stdin.read()")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-P", "-c", program.replace('print("before")', "")],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        process.stdout = None
        _, talk = process.communicate(timeout=60)

    assert process.returncode == 0
    assert b"BrokenPipe" not in talk
