"""Whoosh's own peculiarities, on the real engine in real processes."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from localdb_whoosh.config import WhooshConfig
from localdb_whoosh.index import build
from localdb_whoosh.library import whoosh

from localdb_core.domain import StorageUnavailable
from localdb_core.domain.errors import IndexInProgress
from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import IndexContext, IndexEntry, LegQuery

# Whoosh leaves a file it could not read open, for the garbage collector to find.
LEFT_OPEN = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")

WRITER = """
import sys
from pathlib import Path
from localdb_core.plugin import IndexContext, IndexEntry
from localdb_whoosh.index import build
index = build(IndexContext(plugin="whoosh", folder=Path(sys.argv[1])))
for batch in range(1_000):
    index.upsert([IndexEntry(f"{batch:04}-{n}", text=f"zebra batch{batch}") for n in range(50)])
    index.flush()
    print(batch, flush=True)
"""


def context(folder: Path, *, language: str | None = None) -> IndexContext:
    return IndexContext(plugin="whoosh", folder=folder, store_id="S", language=language)


def entries(texts: dict[str, str]) -> list[IndexEntry]:
    return [IndexEntry(ChunkId(key), text=text) for key, text in texts.items()]


def found(index, text: str, limit: int = 10) -> list[str]:
    return [hit.chunk_id for hit in index.query(LegQuery(limit, text=text))]


def filled(folder: Path, texts: dict[str, str], *, language: str | None = None):
    index = build(context(folder, language=language))
    index.upsert(entries(texts))
    index.flush()
    return index


@pytest.fixture
def _collected() -> Iterator[None]:
    yield
    gc.collect()  # now, while the warning is ignored


def test_five_thousand_entries_in_batches_are_replaced_and_deleted(tmp_path: Path) -> None:
    with closing(build(context(tmp_path))) as index:
        for start in range(0, 5_000, 1_000):
            numbers = range(start, start + 1_000)
            index.upsert(entries({f"{n:05}": f"zebra number{n} harbour" for n in numbers}))
            index.flush()
        index.upsert(entries({f"{n:05}": "tundra" for n in range(0, 5_000, 100)}))
        index.delete([ChunkId(f"{n:05}") for n in range(1, 5_000, 100)])
        index.flush()

        assert index.count() == 4_950
        assert len(set(index.ids())) == 4_950
        assert len(found(index, "tundra", 100)) == 50
        assert found(index, "number1234") == ["01234"]
        assert found(index, "number100") == []
        assert found(index, "number101") == []


def test_ties_longer_than_the_limit_are_cut_by_chunk_id(tmp_path: Path) -> None:
    with closing(filled(tmp_path, {f"{999 - n:03}": "zebra" for n in range(300)})) as index:
        assert found(index, "zebra", 3) == ["700", "701", "702"]


def test_a_killed_writer_leaves_the_last_commit(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    for line in writer.stdout:
        if int(line) == 12:
            break
    writer.kill()
    rest = writer.communicate()[0].split()
    committed = int(rest[-1]) if rest else 12

    with closing(build(context(tmp_path))) as index:
        held = set(index.ids())
        assert {f"{batch:04}-{n}" for batch in range(committed + 1) for n in range(50)} <= held
        assert len(held) % 50 == 0
        index.upsert(entries({"new": "quartz"}))
        index.flush()
        assert found(index, "quartz") == ["new"]


def test_a_second_writer_is_told_and_keeps_what_waits(tmp_path: Path) -> None:
    with (
        closing(filled(tmp_path, {"a": "zebra"})) as first,
        closing(build(context(tmp_path))) as second,
    ):
        second.upsert(entries({"b": "quartz"}))
        lock = first._files.writer()

        with pytest.raises(IndexInProgress):
            second.flush()

        lock.cancel()
        second.flush()
        assert found(first, "quartz") == ["b"]


def test_an_open_reader_sees_the_commits_of_another_process(tmp_path: Path) -> None:
    with closing(filled(tmp_path, {"a": "zebra"})) as index:
        reading = replace(context(tmp_path), readonly=True)
        with closing(build(reading)) as reader:
            assert found(reader, "quartz") == []
            index.upsert(entries({"b": "quartz"}))
            assert found(reader, "quartz") == []

            index.flush()

            assert found(reader, "quartz") == ["b"]
            reader.upsert(entries({"c": "quartz"}))
            reader.flush()
            assert found(index, "quartz") == ["b"]


@LEFT_OPEN
@pytest.mark.usefixtures("_collected")
@pytest.mark.parametrize("kept", [0, 5, 40, 200])
def test_a_truncated_table_of_contents_is_named(tmp_path: Path, kept: int) -> None:
    filled(tmp_path, {"a": "zebra"}).close()
    (table,) = tmp_path.glob("*.toc")
    table.write_bytes(table.read_bytes()[:kept])

    with pytest.raises(StorageUnavailable, match="rebuild the sparse index"):
        build(context(tmp_path))


@LEFT_OPEN
@pytest.mark.usefixtures("_collected")
def test_a_missing_segment_or_table_is_named(tmp_path: Path) -> None:
    filled(tmp_path, {"a": "zebra"}).close()
    for segment in tmp_path.glob("*.seg"):
        segment.unlink()
    with pytest.raises(StorageUnavailable, match="cannot be used"):
        build(replace(context(tmp_path), readonly=True))

    filled(tmp_path / "b", {"a": "zebra"}).close()
    for table in (tmp_path / "b").glob("*.toc"):
        table.unlink()
    with pytest.raises(StorageUnavailable, match="table of contents"):
        build(context(tmp_path / "b"))


@LEFT_OPEN
@pytest.mark.usefixtures("_collected")
def test_a_segment_cut_in_half_is_named(tmp_path: Path) -> None:
    filled(tmp_path, {f"{n}": f"zebra word{n}" for n in range(500)}).close()
    (segment,) = tmp_path.glob("*.seg")
    segment.write_bytes(segment.read_bytes()[: segment.stat().st_size // 2])

    with pytest.raises(StorageUnavailable):
        build(replace(context(tmp_path), readonly=True)).query(LegQuery(5, text="zebra"))


@pytest.mark.parametrize(
    ("language", "text", "question"),
    [
        (None, "the running lanterns", "lantern run"),
        ("en-GB", "vitamin K", "vitamin k"),
        ("de", "die Häuser am Fluss", "Haus"),
        ("fr", "les maisons du village", "maison"),
        ("ru", "книги на столе", "книга"),
        ("ar", "كتاب الطبخ", "كتاب"),
        ("zh", "图书馆里有很多书", "图书馆"),
        ("ja", "図書館で本を読む", "図書館"),
        ("tlh", "qapla batlh", "QAPLA"),
    ],
)
@pytest.mark.req("L-BYD-22")
def test_each_language_is_cut_and_stemmed_its_own_way(
    tmp_path: Path, language: str | None, text: str, question: str
) -> None:
    with closing(filled(tmp_path, {"a": text, "b": "quartz"}, language=language)) as index:
        assert found(index, question) == ["a"]


def test_every_stemmer_of_whoosh_takes_every_script(tmp_path: Path) -> None:
    text = "Zebra Œuvre Straße книга كتاب 図書館 ελιά 🦓 x1 don't"
    for language in whoosh().lang.languages:
        with closing(filled(tmp_path / language, {"a": text}, language=language)) as index:
            assert found(index, text) == ["a"]


def test_stop_words_are_dropped_unless_they_are_all_there_is(tmp_path: Path) -> None:
    with closing(filled(tmp_path, {"a": "the who", "b": "the zebra", "c": "a quartz"})) as index:
        assert found(index, "the zebra") == ["b"]
        assert found(index, "The Who")[0] == "a"


def test_the_rule_any_ranks_by_score_alone(tmp_path: Path) -> None:
    texts = {"both": "quartz " + "filler " * 300 + "zebra", "rare": "quartz quartz quartz"}
    texts |= {f"{n}": "zebra" for n in range(6)}
    filled(tmp_path, texts).close()
    reading = replace(context(tmp_path), readonly=True)

    with closing(build(reading)) as strict:
        assert found(strict, "zebra quartz")[0] == "both"
    with closing(build(replace(reading, config=WhooshConfig(rule="any")))) as either:
        hits = either.query(LegQuery(10, text="zebra quartz"))
        assert hits[0].chunk_id == "rare"
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_language_of_an_empty_index_may_change_and_of_a_full_one_may_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build(context(tmp_path, language="en")).close()
    with closing(filled(tmp_path, {"a": "die Häuser"}, language="de")) as german:
        assert german.language == "de"
        assert found(german, "Haus") == ["a"]

    with closing(build(context(tmp_path, language="fr"))) as still_german:
        assert found(still_german, "Haus") == ["a"]

    assert "rebuild" in caplog.text


def test_nothing_is_printed_or_warned_when_whoosh_is_compiled(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from localdb_core.plugin import IndexContext, IndexEntry, LegQuery\n"
        "from localdb_whoosh.index import build\n"
        "assert 'whoosh' not in sys.modules\n"
        "for language in ('en', 'de', 'ar', 'xx'):\n"
        "    index = build(IndexContext(plugin='w', folder=Path(language), language=language))\n"
        "    index.upsert([IndexEntry('a', text='zebra')]); index.flush()\n"
        "    assert len(index.query(LegQuery(5, text='zebra quartz'))) == 1\n"
        "    index.close()\n"
        "assert 'whoosh.qparser' not in sys.modules\n"
    )
    cache = f"pycache_prefix={tmp_path / 'no-bytecode-here'}"
    child = subprocess.run(
        [sys.executable, "-W", "error", "-X", cache, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )

    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")


def test_a_folder_can_be_deleted_after_closing(tmp_path: Path) -> None:
    index = filled(tmp_path, {"a": "zebra"})
    index.close()
    index.close()

    assert whoosh().index.exists_in(str(tmp_path), indexname="chunksen")
    for path in tmp_path.iterdir():
        path.unlink()
    tmp_path.rmdir()
