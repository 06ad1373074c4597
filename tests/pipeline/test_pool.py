"""Parser processes that hang, crash, print and eat memory: each costs only its document."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localdb_core.domain.errors import (
    ExtractionFailed,
    JobCancelled,
    LocaldbError,
    UnsupportedFormat,
)
from localdb_core.host.owned import Owned
from localdb_core.pipeline.pool import ParserPool
from localdb_core.plugin import Declined, Document, ParserSpec, PluginContext, Probe

PARSERS = '''
import os, signal, subprocess, sys, time
from pathlib import Path
from localdb_core.domain import Block, ExtractionFailed, UnsupportedFormat
from localdb_core.plugin import Declined, Document


class Parser:
    """Does what the file says."""

    def __init__(self, context):
        self.context = context

    def parse(self, path, probe, progress):
        what = path.read_text().split()
        return getattr(self, what[0])(*what[1:], progress=progress)

    def good(self, progress):
        return Document(markdown=f"process {os.getpid()}")

    def decline(self, progress):
        return Declined("not mine")

    def hang(self, progress):
        time.sleep(600)

    def mark_and_hang(self, name, progress):
        Path(name).write_text(str(os.getpid()))
        time.sleep(600)

    def hang_after_work(self, seconds, progress):
        for page in range(int(float(seconds) / 0.05)):
            progress(page, 100)
            time.sleep(0.05)
        return Document(markdown="slow but alive")

    def report_for_ever(self, progress):
        while True:
            progress(1)
            time.sleep(0.02)

    def segfault(self, progress):
        os.kill(os.getpid(), signal.SIGSEGV)

    def leave(self, progress):
        os._exit(3)

    def exit(self, progress):
        raise SystemExit("done here")

    def interrupt(self, progress):
        raise KeyboardInterrupt

    def print_everywhere(self, progress):
        os.write(1, b'{"error": {"code": "crash", "message": "from the parser"}}\\n')
        print("hello")
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        return Document(markdown="quiet")

    def read_input(self, progress):
        return Document(markdown=f"read {len(sys.stdin.read())} and {len(os.read(0, 10))}")

    def eat(self, progress):
        held = bytearray(4 << 30)
        return Document(markdown=str(len(held)))

    def none(self, progress):
        return None

    def bad_kind(self, progress):
        return Document.of_blocks([Block("no such kind", "x")])

    def not_json(self, progress):
        return Document(markdown=b"bytes")

    def unsupported(self, progress):
        raise UnsupportedFormat("scanned")

    def damaged(self, progress):
        raise ExtractionFailed("cut off")

    def bug(self, progress):
        raise KeyError("font")

    def huge(self, progress):
        return Document(markdown="word " * 10_000_000)

    def surrogate(self, progress):
        return Document(markdown="a lone \\ud800 surrogate")

    def close_output(self, progress):
        os.closerange(3, 64)
        return Document(markdown="nobody hears this")

    def grandchild(self, name, progress):
        pid = os.fork()
        if pid == 0:
            time.sleep(600)
        Path(name).write_text(str(pid))
        time.sleep(600)


class Unbuildable:
    def __init__(self, context):
        import no_such_library
'''


class Bench:
    """A pool, a folder of documents that say what the parser should do with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stop = threading.Event()
        self.pool = ParserPool(1, stop=self.stop)
        self._count = 0

    def parse(self, what: str, *, target: str = "Parser", **limits: Any) -> Document | Declined:
        self._count += 1
        path = self.folder / f"document{self._count}.x"
        path.write_text(what)
        return self.pool.parse(
            owned(target, **limits),
            PluginContext(plugin="wild", data_dir=self.folder, cache_dir=self.folder),
            path,
            Probe(name=path.name, size=path.stat().st_size),
        )

    def goes_on(self) -> bool:
        found = self.parse("good")
        return isinstance(found, Document) and (found.markdown or "").startswith("process ")

    def worker(self) -> int:
        found = self.parse("good")
        assert isinstance(found, Document)
        return int((found.markdown or "").split()[1])


def owned(target: str, **limits: Any) -> Owned[ParserSpec]:
    spec = ParserSpec(
        name="wild", target=f"wild_parsers:{target}", suffixes=(".x",), runs="process", **limits
    )
    return Owned("wild", "", "", spec)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not, once its last thread has ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
    except OSError:
        return False
    return state not in ("Z", "X") or threads > 1  # until then its parent cannot reap it


def gone(pid: int) -> bool:
    """Whether a process ends, given time on a busy machine."""
    return wait_for(lambda: not is_alive(pid))


def wait_for(condition: Any) -> bool:
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    (tmp_path / "wild_parsers.py").write_text(PARSERS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    bench = Bench(tmp_path)
    yield bench
    bench.pool.close()


@pytest.mark.req("L-PAR-02")
@pytest.mark.parametrize(
    ("what", "kind", "said"),
    [
        ("segfault", ExtractionFailed, "signal 11"),
        ("leave", ExtractionFailed, "status 3"),
        ("exit", ExtractionFailed, "SystemExit: done here"),
        ("interrupt", ExtractionFailed, "KeyboardInterrupt"),
        ("none", ExtractionFailed, "returned NoneType"),
        ("bad_kind", ValueError, "no such kind"),
        ("not_json", ExtractionFailed, "bytes"),
        ("unsupported", UnsupportedFormat, "scanned"),
        ("damaged", ExtractionFailed, "cut off"),
        ("bug", ExtractionFailed, "KeyError: 'font'"),
    ],
)
def test_a_parser_that_fails_costs_only_its_document(
    bench: Bench, what: str, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said) as failure:
        bench.parse(what)

    assert "Traceback" not in str(failure.value)
    assert bench.goes_on()


def test_a_parser_that_declines_is_heard(bench: Bench) -> None:
    assert bench.parse("decline") == Declined("not mine")


def test_a_parser_whose_library_is_missing_says_which(bench: Bench) -> None:
    with pytest.raises(ExtractionFailed, match="no_such_library"):
        bench.parse("good", target="Unbuildable")


def test_a_parser_that_hangs_is_given_up_after_its_stall_limit(bench: Bench) -> None:
    with pytest.raises(ExtractionFailed, match=r"no progress for 0.5 s"):
        bench.parse("hang", stall_limit=0.5)

    assert bench.goes_on()


def test_a_slow_parser_that_reports_progress_is_not_given_up(bench: Bench) -> None:
    bench.goes_on()  # the process has started

    found = bench.parse("hang_after_work 3", stall_limit=2.0, total_limit=120)

    assert isinstance(found, Document)
    assert found.markdown == "slow but alive"


def test_progress_does_not_help_beyond_the_total_limit(bench: Bench) -> None:
    with pytest.raises(ExtractionFailed, match=r"not done after 1.5 s"):
        bench.parse("report_for_ever", stall_limit=60, total_limit=1.5)

    assert bench.goes_on()


def test_what_a_parser_prints_does_not_reach_the_protocol(bench: Bench) -> None:
    found = bench.parse("print_everywhere")

    assert isinstance(found, Document)
    assert found.markdown == "quiet"
    assert bench.goes_on()


def test_a_parser_that_reads_its_input_finds_none(bench: Bench) -> None:
    found = bench.parse("read_input", stall_limit=20)

    assert isinstance(found, Document)
    assert found.markdown == "read 0 and 0"
    assert bench.goes_on()


def test_a_parser_that_eats_memory_is_stopped_and_the_limit_ends_with_it(bench: Bench) -> None:
    before = bench.worker()

    with pytest.raises(ExtractionFailed, match="out of memory"):
        bench.parse("eat", memory_limit=1 << 30)
    with pytest.raises(ExtractionFailed, match="out of memory"):
        bench.parse("eat", memory_limit=2 << 30)  # another parser may have more

    assert bench.worker() == before
    limits = Path(f"/proc/{before}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max address space")]
    assert line.split()[3:5] == ["unlimited", "unlimited"]


def test_a_very_large_document_comes_through_whole(bench: Bench) -> None:
    found = bench.parse("huge")

    assert isinstance(found, Document)
    assert len(found.markdown or "") == 50_000_000
    assert bench.goes_on()


def test_lone_surrogates_survive_the_way_home(bench: Bench) -> None:
    found = bench.parse("surrogate")

    assert isinstance(found, Document)
    assert found.markdown == "a lone \ud800 surrogate"


def test_a_name_that_is_not_unicode_reaches_the_parser(bench: Bench) -> None:
    path = Path(os.fsdecode(os.fsencode(bench.folder) + b"/caf\xe9 \n.x"))
    path.write_text("good")

    found = bench.pool.parse(
        owned("Parser"), PluginContext(plugin="wild"), path, Probe(name=path.name)
    )

    assert isinstance(found, Document)


def test_a_file_that_vanished_is_an_error_of_the_document(bench: Bench) -> None:
    with pytest.raises(ExtractionFailed, match="FileNotFoundError"):
        bench.pool.parse(
            owned("Parser"), PluginContext(plugin="wild"), bench.folder / "gone.x", Probe("gone.x")
        )

    assert bench.goes_on()


def test_modules_of_the_working_directory_are_not_taken_for_the_real_ones(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    for name in ("json", "queue", "resource", "blake3"):
        (documents / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(documents)

    assert bench.goes_on()


def test_the_stop_event_ends_a_parser_that_hangs(bench: Bench) -> None:
    errors: list[LocaldbError] = []
    marker = bench.folder / "marker"

    def parse() -> None:
        try:
            bench.parse(f"mark_and_hang {marker}", stall_limit=600)
        except LocaldbError as error:
            errors.append(error)

    thread = threading.Thread(target=parse)
    thread.start()
    assert wait_for(lambda: marker.exists() and marker.read_text())
    pid = int(marker.read_text())
    bench.stop.set()
    thread.join(timeout=60)

    assert not thread.is_alive()
    assert isinstance(errors[0], JobCancelled)
    assert gone(pid)


def test_no_process_is_left_after_close(bench: Bench) -> None:
    pid = bench.worker()
    assert is_alive(pid)

    bench.pool.close()
    bench.pool.close()

    assert gone(pid)


def test_a_process_is_used_again_and_replaced_when_it_died(bench: Bench) -> None:
    first, second = bench.worker(), bench.worker()
    os.kill(first, signal.SIGKILL)
    assert gone(first)

    third = bench.worker()

    assert first == second
    assert third != first


def test_a_process_that_closed_its_output_is_replaced(bench: Bench) -> None:
    with pytest.raises(ExtractionFailed):
        bench.parse("close_output")

    assert bench.goes_on()


def test_what_a_parser_started_dies_with_it(bench: Bench) -> None:
    marker = bench.folder / "marker"

    with pytest.raises(ExtractionFailed, match="no progress"):
        bench.parse(f"grandchild {marker}", stall_limit=3)

    assert gone(int(marker.read_text()))
    assert bench.goes_on()


PARENT = """
import sys
from pathlib import Path
from localdb_core.host.owned import Owned
from localdb_core.pipeline.pool import ParserPool
from localdb_core.plugin import ParserSpec, PluginContext, Probe

spec = ParserSpec(name="wild", target="wild_parsers:Parser", runs="process")
ParserPool(1).parse(
    Owned("wild", "", "", spec), PluginContext(plugin="wild"), Path(sys.argv[1]), Probe("x")
)
"""


def test_no_process_is_left_after_the_parent_is_killed_in_the_middle_of_a_document(
    bench: Bench,
) -> None:
    marker, document = bench.folder / "marker", bench.folder / "document.x"
    document.write_text(f"mark_and_hang {marker}")
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(document)])
    assert wait_for(lambda: marker.exists() and marker.read_text())
    worker = int(marker.read_text())
    assert is_alive(worker)

    parent.kill()
    parent.wait()

    assert gone(worker)
