"""Chroma's own peculiarities, on the real engine in real processes."""

import contextlib
import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from localdb_chroma.database import Database
from localdb_chroma.index import build

from localdb_core.domain import StorageUnavailable
from localdb_core.domain.errors import IndexInProgress
from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import EmbedderCard, IndexContext, IndexEntry, LegQuery

VECTORS = np.random.default_rng(7).normal(size=(5_000, 32)).astype(np.float32)
CARD = EmbedderCard(name="random", dimension=32, max_tokens=8, fingerprint="random:32")

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_index import context, entries
from localdb_chroma.index import build
index = build(context(Path(sys.argv[1])))
for start in range(0, 5_000, 250):
    index.upsert(entries(start, start + 250))
    index.flush()
    print(start + 250, flush=True)
"""
READER = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_index import context, unfound
from localdb_chroma.index import build
index = build(replace(context(Path(sys.argv[1])), readonly=True))
print(unfound(index, int(sys.argv[3])))
"""


def context(folder: Path) -> IndexContext:
    return IndexContext(plugin="chroma", folder=folder, store_id="S", card=CARD)


def entries(start: int, end: int) -> list[IndexEntry]:
    return [IndexEntry(ChunkId(f"{n:05}"), vector=VECTORS[n]) for n in range(start, end)]


def unfound(index, count: int) -> int:
    best = (index.query(LegQuery(1, vector=VECTORS[n])) for n in range(0, count, 5))
    return sum(
        hits[0].chunk_id != f"{n:05}" for n, hits in zip(range(0, count, 5), best, strict=True)
    )


def read_in_a_child(folder: Path, count: int) -> subprocess.CompletedProcess[str]:
    arguments = [str(folder), str(Path(__file__).parent), str(count)]
    return subprocess.run(
        [sys.executable, "-c", READER, *arguments], capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Five batches of 1,000, each flushed."""
    folder = tmp_path_factory.mktemp("five-thousand") / "store"
    with closing(build(context(folder))) as index:
        for start in range(0, 5_000, 1_000):
            index.upsert(entries(start, start + 1_000))
            index.flush()
    return folder


def test_five_thousand_entries_are_found_again(folder: Path) -> None:
    with closing(build(replace(context(folder), readonly=True))) as index:
        assert index.count() == 5_000
        assert sorted(index.ids()) == [f"{n:05}" for n in range(5_000)]
        assert unfound(index, 5_000) <= 5  # an approximate index may miss one in two hundred


def test_an_upsert_larger_than_chromas_batch_is_cut(tmp_path: Path) -> None:
    vectors = np.concatenate([VECTORS, VECTORS[:1_000] * -1])
    many = [IndexEntry(ChunkId(str(n)), vector=row) for n, row in enumerate(vectors)]
    with closing(build(context(tmp_path))) as index:
        index.upsert(many)
        index.delete([entry.chunk_id for entry in many[1:]])
        index.flush()

        assert list(index.ids()) == ["0"]
        assert [hit.chunk_id for hit in index.query(LegQuery(3, vector=VECTORS[0]))] == ["0"]


def test_a_killed_writer_loses_nothing_it_flushed_or_the_damage_shows(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    for line in writer.stdout:
        if int(line) == 2_250:  # saved once, with more waiting in the log
            break
    writer.kill()
    writer.communicate()

    reader = read_in_a_child(folder, 2_250)

    assert reader.returncode != 0 or int(reader.stdout) <= 3


def test_a_reader_beside_a_writer_does_not_spoil_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with closing(build(context(folder))) as first:
        first.upsert(entries(0, 250))
        first.flush()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parent)],
        stdout=subprocess.DEVNULL,
    )
    with closing(build(replace(context(folder), readonly=True))) as reader:
        while writer.poll() is None:
            reader.query(LegQuery(3, vector=VECTORS[0]))

    assert writer.returncode == 0
    checked = read_in_a_child(folder, 5_000)
    assert checked.returncode == 0, checked.stderr
    assert int(checked.stdout) <= 5


def test_a_damaged_graph_is_an_error_or_a_dead_child_never_silence(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with closing(build(context(folder))) as index:
        index.upsert(entries(0, 2_500))
        index.flush()
    (level,) = folder.glob("*/data_level0.bin")
    level.write_bytes(level.read_bytes()[: level.stat().st_size // 2])

    reader = read_in_a_child(folder, 2_500)

    assert reader.returncode != 0 or int(reader.stdout) > 25


@pytest.mark.parametrize("content", [b"", b"not a database" * 1_000])
def test_a_damaged_database_is_named(tmp_path: Path, content: bytes) -> None:
    tmp_path.joinpath("chroma.sqlite3").write_bytes(content)

    with pytest.raises(StorageUnavailable, match="Chroma index in"):
        build(replace(context(tmp_path), readonly=True))


def test_a_reader_keeps_out_while_the_graph_is_saved_and_a_writer_tidies_up(
    tmp_path: Path,
) -> None:
    with closing(build(context(tmp_path))) as index:
        index.upsert(entries(0, 10))
        index.flush()
    killed = Database(tmp_path)
    killed._set_threshold(2)
    killed.close()

    with pytest.raises(IndexInProgress):
        build(replace(context(tmp_path), readonly=True))

    build(context(tmp_path)).close()
    with closing(build(replace(context(tmp_path), readonly=True))) as reader:
        assert unfound(reader, 10) == 0


def test_two_open_instances_in_one_process_each_see_what_came_before_them(tmp_path: Path) -> None:
    reading = replace(context(tmp_path), readonly=True)
    with closing(build(context(tmp_path))) as writer:
        writer.upsert(entries(0, 10))
        writer.flush()
        with closing(build(reading)) as old:
            assert unfound(old, 10) == 0
            writer.upsert(entries(10, 20))
            writer.flush()

            with closing(build(reading)) as new:
                assert unfound(new, 20) == 0
            assert unfound(old, 10) == 0  # closing the new one leaves the old one open


def held_below(folder: Path) -> list[str]:
    """Files below the folder that this process has open."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # closed while we look
            found.append(os.readlink(link))
    return [target for target in found if target.startswith(str(folder))]


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = build(context(tmp_path))
    index.upsert(entries(0, 10))
    index.close()
    index.close()

    with pytest.raises(StorageUnavailable, match="closed"):
        index.count()


@pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(),
    reason="which files a process holds open is listed in /proc, which only Linux has",
)
def test_a_closed_index_holds_no_file(tmp_path: Path) -> None:
    index = build(context(tmp_path))
    index.upsert(entries(0, 10))
    index.close()

    for _ in range(100):  # Chroma's own threads close their connections a moment later
        if not held_below(tmp_path):
            break
        gc.collect()
        time.sleep(0.1)
    assert held_below(tmp_path) == []


def test_nothing_is_printed_and_no_model_is_loaded(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_index import context, entries, unfound
import localdb_chroma.plugin, localdb_chroma.index
assert "chromadb" not in sys.modules
index = localdb_chroma.index.build(context(Path(sys.argv[1])))
index.upsert(entries(0, 10)); index.flush(); assert unfound(index, 10) == 0; index.close()
assert not {"onnxruntime", "sentence_transformers", "torch"} & set(sys.modules)
"""
    child = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "store"), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )

    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")


def test_settings_in_the_environment_and_a_stray_env_file_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("IS_PERSISTENT=false\nUNKNOWN=1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHROMA_API_IMPL", "chromadb.api.fastapi.FastAPI")

    with closing(build(context(tmp_path / "store"))) as index:
        index.upsert(entries(0, 3))

        assert index.count() == 3
