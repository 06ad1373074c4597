"""Index runs end to end: what is read, parsed, embedded, kept and removed."""

from __future__ import annotations

import errno
import itertools
import logging
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from localdb_core.app import LocalDB
from localdb_core.domain import ExtractionFailed, Metadata, SearchRequest, UnsupportedFormat
from localdb_core.domain.block import Block
from localdb_core.domain.errors import (
    InvalidConfig,
    InvalidRequest,
    JobCancelled,
    LocaldbError,
    ModelMissing,
    StaleIndex,
    StorageUnavailable,
)
from localdb_core.domain.events import DocumentFinished, Event, IndexStats
from localdb_core.domain.reports import IndexReport
from localdb_core.domain.store import Store
from localdb_core.plugin import (
    Document,
    EmbedderSpec,
    IndexSpec,
    Listing,
    ParserSpec,
    PluginInfo,
    SourceSpec,
    hookimpl,
)
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app
from localdb_core.testing.memory import FakeEmbedder, MemoryIndex

Plugin = tuple[str, ModuleType]
MEMORY_PLUGIN: Plugin = ("memory", memory_plugin)
_numbers = itertools.count()


def plugin(hook: str, component: Any, spec: Any, **fields: Any) -> Plugin:
    """A plugin module of one component, importable under a name of its own."""
    module = ModuleType(f"run_test_plugin_{next(_numbers)}")
    described = spec(target=f"{module.__name__}:component", **fields)

    def offer() -> list[Any]:
        return [described]

    offer.__name__ = hook
    vars(module).update({"PLUGIN": PluginInfo(api="1.0"), "__file__": "", "component": component})
    vars(module)[hook] = hookimpl(offer)
    sys.modules[module.__name__] = module
    return "tested", module


def parser(parse: Callable[[Path], Any], *, version: str = "1") -> Plugin:
    """A plugin whose parser for ``.x`` files is this function."""

    class Parser:
        def __init__(self, context: Any) -> None:
            pass

        def parse(self, path: Path, probe: Any, progress: Any) -> Any:
            return parse(path)

    return plugin(
        "localdb_parsers",
        Parser,
        ParserSpec,
        name="x",
        suffixes=(".x",),
        version=version,
        runs="thread",
    )


def embedder(component: Any) -> Plugin:
    return plugin("localdb_embedders", component, EmbedderSpec, name="odd", callers=2)


def config(**changes: Any) -> dict[str, Any]:
    """The config of the stand-ins, with other sections replaced."""
    return {**MEMORY, **changes}


def embedding(provider: str, model: str = "fake", **indexing: Any) -> dict[str, Any]:
    return config(
        defaults={"indexing": {"embedding": {"provider": provider, "model": model}, **indexing}}
    )


class Home:
    """A folder of documents and the application that indexes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.documents = folder / "documents"
        self.documents.mkdir()

    def open(self, *plugins: Plugin, config: Mapping[str, Any] | None = None) -> LocalDB:
        app = make_app(self.folder / "home", plugins=(MEMORY_PLUGIN, *plugins), config=config)
        store = app.stores.resolve("default")
        if not app.sources.list(store):
            app.sources.add(store, str(self.documents))
        return app

    def write(self, name: str, text: str) -> Path:
        path = self.documents / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def index(app: LocalDB, **options: Any) -> IndexReport:
    return app.index([app.stores.resolve("default")], **options)[0]


def catalog(app: LocalDB) -> dict[str, str]:
    """Text of every document by the last part of its URI."""
    store = app.stores.resolve("default")
    rows, _ = app.documents.page(store, source_id=None, offset=0, limit=10_000)
    return {row.uri.rpartition("/")[2]: app.documents.text(store, row.id) for row in rows}


def held(app: LocalDB, leg: str) -> set[str]:
    """Ids in the index of one leg."""
    store = app.stores.resolve("default")
    engine = app._engines.engine(store, leg)  # type: ignore[arg-type]
    opened = app._engines.open(store, engine, language=None, readonly=True)
    return set(opened.ids())


def chunk_ids(app: LocalDB) -> set[str]:
    return app.catalog.vectors.chunk_ids(app.stores.resolve("default").id, None)


def found(app: LocalDB, query: str) -> list[str]:
    return [c.chunk.text for c in app.search.search(SearchRequest(query)).citations]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


class Spy:
    """What was hashed, parsed and embedded since the last reset."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[str] = []
        self.parsed: list[str] = []
        self.embedded: list[str] = []
        for target, kept in (
            ("localdb_core.pipeline.ingest.hash_file", self.read),
            ("localdb_core.pipeline.parse.ParserRunner.parse", self.parsed),
            ("localdb_core.testing.memory.FakeEmbedder.embed", self.embedded),
        ):
            monkeypatch.setattr(target, self._wrapped(target, kept))

    @staticmethod
    def _wrapped(target: str, kept: list[str]) -> Callable[..., Any]:
        module, _, name = target.rpartition(".")
        owner: Any = sys.modules.get(module)
        if owner is None:
            module, _, kind = module.rpartition(".")
            owner = getattr(sys.modules[module], kind)
        original = getattr(owner, name)

        def call(*args: Any, **options: Any) -> Any:
            if name == "embed":
                kept.extend(args[1] if args[2] == "passage" else ())
            else:
                kept.append(Path(args[-1] if name == "hash_file" else args[1]).name)
            return original(*args, **options)

        return call

    def reset(self) -> None:
        for kept in (self.read, self.parsed, self.embedded):
            kept.clear()


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    return Spy(monkeypatch)


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records]


# --- What is looked at again (S-3) ---


@pytest.mark.req("L-ING-43")
def test_an_unchanged_file_is_not_read(home: Home, spy: Spy) -> None:
    home.write("a.md", "# Herons\n\nThey fish at dawn.\n")
    with home.open() as app:
        index(app)
        spy.reset()

        again = index(app)

        assert again.stats == IndexStats(docs_seen=1, docs_skipped=1, sources_count=1)
        assert (spy.read, spy.parsed, spy.embedded) == ([], [], [])


@pytest.mark.req("L-ING-43")
def test_a_file_with_a_new_time_and_the_same_bytes_is_read_once_and_not_parsed(
    home: Home, spy: Spy
) -> None:
    path = home.write("a.md", "# Herons\n\nThey fish at dawn.\n")
    with home.open() as app:
        index(app)
        os.utime(path, ns=(10**18, 10**18))
        spy.reset()

        stats = index(app).stats
        read, parsed = list(spy.read), list(spy.parsed)
        spy.reset()
        index(app)
        rows, _ = app.documents.page(
            app.stores.resolve("default"), source_id=None, offset=0, limit=1
        )

        assert (stats.docs_skipped, read, parsed) == (1, ["a.md"], [])
        assert spy.read == []
        assert rows[0].fetched_at == "2001-09-09T01:46:40Z"


@pytest.mark.req("L-ING-43")
def test_changed_bytes_with_the_same_text_are_parsed_and_not_embedded(home: Home, spy: Spy) -> None:
    path = home.write("a.md", "# Herons\n\nThey fish at dawn.\n")
    with home.open() as app:
        index(app)
        path.write_text("# Herons\n\n\n\nThey fish at dawn.\n\n")
        spy.reset()

        stats = index(app).stats
        parsed, embedded = list(spy.parsed), list(spy.embedded)
        spy.reset()
        index(app)

        assert (stats.docs_skipped, parsed, embedded) == (1, ["a.md"], [])
        assert spy.read == []


@pytest.mark.req("L-ING-40")
def test_a_changed_policy_is_recorded_everywhere_and_repeats_only_what_it_names(
    home: Home, spy: Spy
) -> None:
    home.write("a.md", "# Herons\n\nThey fish at dawn.\n")
    home.write("b.txt", "Storks stand.\n")
    with home.open() as app:
        index(app)
    with home.open(config=embedding("fake", parsers=["markdown", "plaintext"])) as app:
        spy.reset()

        stats = index(app).stats
        store = app.stores.resolve("default")
        again = index(app).stats

        assert (stats.docs_skipped, again.docs_skipped) == (2, 2)
        assert (spy.read, spy.parsed, spy.embedded) == ([], [], [])
        assert {
            row.policy_version
            for row in app.documents.page(store, source_id=None, offset=0, limit=9)[0]
        } == {store.policy_version}


def test_a_new_parser_version_parses_only_its_own_documents(home: Home, spy: Spy) -> None:
    home.write("a.md", "Herons fish.\n")
    home.write("b.x", "Storks stand.\n")

    def parse(path: Path) -> Document:
        return Document(markdown=path.read_text())

    with home.open(parser(parse)) as app:
        index(app)
    spy.reset()

    with home.open(parser(parse, version="2")) as app:
        stats = index(app).stats
        parsed = list(spy.parsed)
        spy.reset()
        index(app)

        assert (stats.docs_skipped, stats.docs_indexed, parsed) == (2, 0, ["b.x"])
        assert spy.embedded == [] == spy.read


def test_documents_of_a_parser_that_is_gone_are_kept_even_with_delete(home: Home) -> None:
    home.write("b.x", "Storks stand.\n")
    home.write("a.md", "Herons fish.\n")
    with home.open(parser(lambda path: Document(markdown=path.read_text()))) as app:
        index(app)

    with home.open() as app:
        stats = index(app, delete=True).stats

        # Nobody lists .x files now, so nobody can miss them either.
        assert (stats.docs_deleted, stats.docs_prunable) == (0, 0)
        assert set(catalog(app)) == {"a.md", "b.x"}


# --- Vectors are used again (S-4) ---


@pytest.mark.req("L-ING-44")
def test_only_the_changed_paragraph_of_a_document_is_embedded(home: Home, spy: Spy) -> None:
    sections = [f"## Part {n}\n\nParagraph {n} on herons.\n" for n in range(12)]
    path = home.write("a.md", "# Birds\n\n" + "\n".join(sections))
    with home.open() as app:
        index(app)
        assert len(spy.embedded) == 12
        spy.reset()
        path.write_text("# Birds\n\n" + "\n".join(sections).replace("Paragraph 5", "New words"))

        stats = index(app).stats

        assert stats.docs_indexed == 1
        assert spy.embedded == ["Birds > Part 5\n\nNew words on herons."]
        assert "New words on herons." in found(app, "new words")
        assert held(app, "dense") == held(app, "sparse") == chunk_ids(app)


@pytest.mark.req("L-ING-44")
def test_a_moved_file_is_not_embedded_again(home: Home, spy: Spy) -> None:
    path = home.write("a.md", "# Birds\n\nHerons fish.\n")
    home.write("b.md", "# Plants\n\nReeds grow.\n")
    with home.open() as app:
        index(app)
        spy.reset()
        path.rename(home.documents / "moved.md")

        stats = index(app, delete=True).stats

        assert (stats.docs_indexed, stats.docs_deleted, spy.embedded) == (1, 1, [])
        assert set(catalog(app)) == {"b.md", "moved.md"}
        assert held(app, "dense") == chunk_ids(app)


def test_the_same_paragraph_twice_in_a_document_is_embedded_once(home: Home, spy: Spy) -> None:
    home.write("a.md", "Herons fish.\n\n| a |\n| --- |\n| b |\n\nHerons fish.\n")
    with home.open() as app:
        index(app)

        assert sorted(spy.embedded) == ["Herons fish.", "| a |\n| --- |\n| b |"]
        assert len(held(app, "dense")) == 3


@pytest.mark.req("L-ING-34")
def test_changed_metadata_is_stored_without_embedding(home: Home, spy: Spy) -> None:
    def parse(path: Path) -> Document:
        author, _, text = path.read_text().partition("\n")
        return Document(markdown=text, metadata=Metadata(title="T", creator=(author,)))

    path = home.write("a.x", "Ann\nHerons fish.\n")
    with home.open(parser(parse)) as app:
        index(app)
        spy.reset()
        path.write_text("Bob\nHerons fish.\n")

        stats = index(app).stats
        (hit,) = app.search.search(SearchRequest("herons")).citations

        assert (stats.docs_skipped, spy.embedded) == (1, [])
        assert hit.resource.metadata.creator == ("Bob",)


def test_a_new_title_reaches_the_keyword_index(home: Home) -> None:
    def parse(path: Path) -> Document:
        title, _, text = path.read_text().partition("\n")
        return Document(markdown=text, metadata=Metadata(title=title))

    path = home.write("a.x", "Lagoon\nHerons fish.\n")
    with home.open(parser(parse)) as app:
        index(app)
        path.write_text("Estuary\nHerons fish.\n")

        index(app)

        keyword = [hit.title for hit in _words(app, "estuary")]
        assert keyword == ["Estuary"]
        assert _words(app, "lagoon") == []


def _words(app: LocalDB, query: str) -> list[Any]:
    from localdb_core.domain import SearchMode

    request = SearchRequest(query, mode=SearchMode.KEYWORD)
    return [citation.resource for citation in app.search.search(request).citations]


# --- One bad file among good ones ---


@pytest.mark.req("L-INV-07")
@pytest.mark.req("L-ING-30")
@pytest.mark.req("L-ING-31")
@pytest.mark.req("L-LOG-01")
@pytest.mark.req("L-PAR-02")
def test_bad_files_are_counted_said_once_each_and_tried_again(
    home: Home, warnings: Callable[[], list[str]]
) -> None:
    def fail(error: BaseException) -> Document:
        raise error

    wild: dict[str, Callable[[], Any]] = {
        "crash.x": lambda: fail(KeyError("font")),
        "exit.x": lambda: fail(SystemExit("bye")),
        "interrupt.x": lambda: fail(KeyboardInterrupt()),
        "damaged.x": lambda: fail(ExtractionFailed("cut off")),
        "scanned.x": lambda: fail(UnsupportedFormat("no text layer")),
        "none.x": lambda: None,
        "markdown.x": lambda: Document(markdown=3),  # type: ignore[arg-type]
        "block.x": lambda: Document(blocks=("nonsense",)),  # type: ignore[arg-type]
        "details.x": lambda: Document.of_blocks([Block("text", "a", details={"x": b"y"})]),  # type: ignore[arg-type]
        "extra.x": lambda: Document(markdown="a", metadata=Metadata(extra={"page_count": {1}})),
        "title.x": lambda: Document(markdown="a", metadata=Metadata(title=7)),  # type: ignore[arg-type]
        "kind.x": lambda: Document.of_blocks([Block("hologram", "a")]),  # type: ignore[arg-type]
        "memory.x": lambda: fail(MemoryError()),
        "deep.x": lambda: fail(RecursionError("too deep")),
    }
    for name in wild:
        home.write(name, name)
    home.write("empty.md", "")
    home.write("good.md", "# Good\n\nHerons fish.\n")
    with home.open(parser(lambda path: wild[path.name]())) as app:
        first, said = index(app).stats, warnings()
        again = index(app).stats

        assert first == IndexStats(
            docs_seen=len(wild) + 2,
            docs_indexed=1,
            docs_skipped=1,
            unsupported_format_count=1,
            error_count=len(wild) - 1,
            chunks_written=1,
            sources_count=1,
        )
        assert (again.error_count, again.docs_skipped) == (len(wild) - 1, 2)
        for name in wild:
            assert sum(f"/{name}: " in line for line in said) == 1, (name, said)
        assert not any("good.md" in line or "\n" in line for line in said)
        assert found(app, "herons") == ["Herons fish."]


@pytest.mark.req("L-ING-31")
def test_a_file_that_failed_once_is_indexed_at_the_next_run(home: Home) -> None:
    failures = iter([True])

    def parse(path: Path) -> Document:
        if next(failures, False):
            raise ExtractionFailed("a bad moment")
        return Document(markdown=path.read_text())

    home.write("a.x", "Herons fish.")
    with home.open(parser(parse)) as app:
        assert index(app).stats.error_count == 1
        assert index(app).stats.docs_indexed == 1


def test_a_document_that_stops_to_be_readable_keeps_its_last_good_version(home: Home) -> None:
    path = home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)

        path.write_text("")
        emptied = index(app, delete=True).stats
        path.unlink()
        path.symlink_to(home.documents / "nowhere.md")
        broken = index(app, delete=True).stats

        assert (emptied.docs_skipped, broken.error_count) == (1, 1)
        assert found(app, "herons") == ["Herons fish."]


def test_names_and_texts_that_are_no_unicode_are_indexed(home: Home) -> None:
    def parse(path: Path) -> Document:
        return Document.of_blocks(
            [
                Block.heading("Head \ud800 ing", level=1),
                Block.text_run("Herons \udfff fish."),
                Block.code("x = 1", language="py\ud800"),
                Block.image(alt="a \ud801 stork", src="\ud802.png"),
            ],
            metadata=Metadata(title="T \ud803", creator=("C \ud804",), language="en"),
        )

    folder = os.fsencode(home.documents)
    for name in (b"caf\xe9.x", b"new\nline.x", b" a b%20c#?.x"):
        Path(os.fsdecode(folder + b"/" + name)).write_text("x")
    with home.open(parser(parse)) as app:
        first, again = index(app).stats, index(app).stats
        names = set(catalog(app))
        texts = found(app, "herons")

        assert (first.docs_indexed, first.error_count, again.docs_skipped) == (3, 0, 3)
        assert names == {"caf%E9.x", "new%0Aline.x", "%20a%20b%2520c%23%3F.x"}
        assert texts.count("Herons \ufffd fish.") == 3


@pytest.mark.parametrize("second", [-(10**9), 10**10, 2**33])
def test_impossible_file_times_do_not_end_a_run(home: Home, second: int) -> None:
    os.utime(home.write("a.md", "Herons fish.\n"), (second, second))
    home.write("b.md", "Storks stand.\n")
    with home.open() as app:
        assert index(app).stats.docs_indexed == 2
        assert index(app).stats.docs_skipped == 2


def test_a_document_the_catalog_refuses_costs_only_itself(
    home: Home, monkeypatch: pytest.MonkeyPatch, warnings: Callable[[], list[str]]
) -> None:
    from localdb_core.storage import session

    real = session.insert_document

    def insert(db: Any, document: Any, *more: Any) -> None:
        if document.resource.uri.endswith("bad.md"):
            raise OverflowError("int too large")
        real(db, document, *more)

    monkeypatch.setattr(session, "insert_document", insert)
    for name in ("a.md", "bad.md", "c.md"):
        home.write(name, f"# {name}\n\nHerons fish in {name}.\n")
    with home.open() as app:
        stats = index(app).stats

        assert (stats.docs_indexed, stats.error_count, stats.chunks_written) == (2, 1, 2)
        assert set(catalog(app)) == {"a.md", "c.md"}
        assert held(app, "dense") == held(app, "sparse") == chunk_ids(app)
        assert sum("bad.md: it cannot be stored: OverflowError" in w for w in warnings()) == 1


def test_a_document_of_three_thousand_chunks_is_stored_whole(home: Home, spy: Spy) -> None:
    parts = (f"## Part {n}\n\nSentence {n} on herons.\n" for n in range(3000))
    home.write("huge.md", "\n".join(parts))
    with home.open() as app:
        stats = index(app).stats

        assert (stats.docs_indexed, stats.chunks_written) == (1, 3000)
        assert len(spy.embedded) == 3000
        assert len(held(app, "dense")) == len(held(app, "sparse")) == 3000
        assert found(app, "sentence 2999")[0] == "Sentence 2999 on herons."


# --- Embedders that fail ---


class Odd(FakeEmbedder):
    """An embedder that fails on texts with the word ``bad``, in the way it is told."""

    how: Callable[[Any], Any] = staticmethod(lambda rows: rows)

    def embed(self, texts: Sequence[str], role: Any) -> Any:
        rows = super().embed(texts, role)
        return type(self).how(rows) if any("bad" in text for text in texts) else rows


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.req("L-EMB-01")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        (lambda rows: rows[:-1], "shape"),
        (lambda rows: rows[:, :32], "shape"),
        (lambda rows: rows * np.nan, "without direction"),
        (lambda rows: rows * 0, "without direction"),
        (lambda rows: None, "embedding"),
        (lambda rows: [[1.0], [1.0, 2.0]], "embedding"),
        (lambda rows: _raise(RuntimeError("no more memory")), "RuntimeError: no more memory"),
        (lambda rows: _raise(SystemExit("bye")), "SystemExit"),
    ],
    ids=["count", "dimension", "nan", "zero", "none", "ragged", "raises", "exits"],
)
def test_a_wrong_answer_of_the_embedder_costs_only_its_document(
    home: Home, how: Callable[[Any], Any], said: str, warnings: Callable[[], list[str]]
) -> None:
    component = type("Told", (Odd,), {"how": staticmethod(how)})
    home.write("a.md", "A bad paragraph.\n")
    home.write("b.md", "A good paragraph.\n")
    with home.open(embedder(component), config=embedding("odd")) as app:
        report = index(app)

        assert report.error is None
        assert (report.stats.docs_indexed, report.stats.error_count) == (1, 1)
        assert set(catalog(app)) == {"b.md"}
        (line,) = [line for line in warnings() if "a.md" in line]
        assert said in line
        assert held(app, "dense") == held(app, "sparse") == chunk_ids(app)


@pytest.mark.req("L-INV-06")
def test_the_old_version_stays_searchable_when_embedding_the_new_one_fails(home: Home) -> None:
    component = type("Told", (Odd,), {"how": staticmethod(lambda rows: _raise(ValueError("x")))})
    path = home.write("a.md", "The old paragraph.\n")
    with home.open(embedder(component), config=embedding("odd")) as app:
        index(app)
        path.write_text("The bad paragraph.\n")

        failed, texts = index(app).stats, found(app, "paragraph")
        path.write_text("The better paragraph.\n")
        mended = index(app).stats

        assert (failed.error_count, texts) == (1, ["The old paragraph."])
        assert (mended.docs_indexed, found(app, "paragraph")) == (1, ["The better paragraph."])


def _no_model(context: Any) -> Any:
    raise ModelMissing(f"{context.model} is not there; run: localdb model fetch")


@pytest.mark.req("L-SRCH-24")
def test_a_missing_model_ends_the_run_and_says_so(home: Home) -> None:
    home.write("a.md", "Herons fish.\n")
    with home.open(embedder(_no_model), config=embedding("odd", "large")) as app:
        report = index(app)

        assert isinstance(report.error, ModelMissing)
        assert "large" in str(report.error)
        assert report.error.exit_status == 5
        assert catalog(app) == {}


def _no_such_model(context: Any) -> Any:
    raise InvalidConfig(f"no model is called {context.model}; write small")


def test_a_model_that_the_embedder_does_not_know_is_said_once_and_ends_the_run(
    home: Home, warnings: Callable[[], list[str]]
) -> None:
    for name in ("a.md", "b.md", "c.md"):
        home.write(name, "Herons fish.\n")
    with home.open(embedder(_no_such_model), config=embedding("odd", "large")) as app:
        report = index(app)

        assert isinstance(report.error, InvalidConfig)
        assert str(report.error) == "invalid config: no model is called large; write small"
        assert (report.error.exit_status, warnings()) == (2, [])
        assert catalog(app) == {}


@pytest.mark.req("L-SRCH-24")
def test_without_any_embedder_documents_are_found_by_their_words_and_that_is_said_once(
    home: Home, warnings: Callable[[], list[str]]
) -> None:
    for n in range(20):
        home.write(f"{n}.md", f"Herons fish {n}.\n")
    with home.open(config={}) as app:
        other = app.stores.add("other")
        app.sources.add(other, str(home.documents))

        reports = app.index(app.stores.list())
        result = app.search.search(SearchRequest("herons", stores=("default",)))

        assert [report.stats.docs_indexed for report in reports] == [20, 20]
        assert sum("no embedder is installed" in line for line in warnings()) == 1
        assert len(result.citations) == 10
        assert all(citation.score.dense is None for citation in result.citations)
        assert len(result.notices) == 1
        assert "no vectors" in result.notices[0]


def test_documents_stored_without_vectors_get_them_when_there_is_an_embedder(
    home: Home, spy: Spy
) -> None:
    onnx = plugin(
        "localdb_embedders", FakeEmbedder, EmbedderSpec, name="onnx", summary="not the real one"
    )
    home.write("a.md", "Herons fish.\n")
    with home.open(config={}) as app:
        index(app)
        assert index(app).stats.docs_skipped == 1

    with home.open(onnx, config={}) as app:
        planned = app.plan([app.stores.resolve("default")])
        stats, again = index(app).stats, index(app).stats

        assert [row.reason for row in planned] == ["re-chunk: it has no vectors yet"]
        assert (stats.docs_indexed, again.docs_skipped) == (1, 1)
        assert spy.embedded == ["Herons fish."]
        assert app.search.search(SearchRequest("herons")).citations[0].score.dense is not None


@pytest.mark.req("L-EMB-30")
@pytest.mark.req("L-STO-09")
def test_another_embedder_is_refused_and_both_are_named(home: Home) -> None:
    class Other(FakeEmbedder):
        def __init__(self, context: Any) -> None:
            super().__init__(context, fingerprint="other:64:1")

    path = home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)
    path.write_text("Storks stand.\n")

    with home.open(embedder(Other), config=embedding("odd", "large")) as app:
        report = index(app)

        assert isinstance(report.error, StaleIndex)
        assert "fake fake" in str(report.error)
        assert "odd large" in str(report.error)
        assert catalog(app) == {"a.md": "Herons fish."}


@pytest.mark.req("L-EMB-30")
def test_a_model_that_changed_under_the_same_name_is_refused(home: Home) -> None:
    path = home.write("a.md", "Herons fish.\n")
    with home.open(embedder(FakeEmbedder), config=embedding("odd")) as app:
        index(app)
    path.write_text("Storks stand.\n")
    changed = embedder(lambda context: FakeEmbedder(context, fingerprint="fake:64:2"))

    with home.open(changed, config=embedding("odd")) as app:
        report = index(app)

        assert isinstance(report.error, StaleIndex)
        assert found(app, "herons") == ["Herons fish."]


# --- Indexes that fail ---


class Failing(MemoryIndex):
    """An index that raises on upsert while ``error`` is set."""

    error: BaseException | None = None

    def upsert(self, entries: Any) -> None:
        if type(self).error is not None:
            raise type(self).error
        super().upsert(entries)


def failing(error: BaseException | None) -> tuple[type[Failing], Plugin]:
    component = type("Failing", (Failing,), {"error": error})
    return component, plugin("localdb_indexes", component, IndexSpec, name="weak", leg="dense")


WEAK = config(index={"dense": "weak", "sparse": "memory-sparse"})


@pytest.mark.req("L-STO-04")
def test_a_full_disk_ends_the_run_and_the_next_one_completes_it(home: Home) -> None:
    component, weak = failing(OSError(errno.ENOSPC, "No space left on device"))
    home.write("a.md", "Herons fish.\n")
    home.write("b.md", "Storks stand.\n")
    with home.open(weak, config=WEAK) as app:
        full = index(app)
        component.error = None
        rerun = index(app)

        assert isinstance(full.error, StorageUnavailable)
        assert (full.stats.docs_indexed, full.stats.chunks_written) == (0, 0)
        assert (rerun.error, rerun.stats.docs_indexed) == (None, 2)
        assert held(app, "dense") == held(app, "sparse") == chunk_ids(app)


def test_a_full_disk_while_an_index_is_mended_is_said_as_such(home: Home) -> None:
    component, weak = failing(None)
    home.write("a.md", "Herons fish.\n")
    with home.open(weak, config=WEAK) as app:
        index(app)
        shutil.rmtree(home.folder / "home" / "data" / "index")
        component.error = OSError(errno.ENOSPC, "No space left on device")

        report = index(app)

        assert isinstance(report.error, StorageUnavailable)


@pytest.mark.req("L-SRCH-24")
def test_an_index_that_fails_is_said_stood_in_for_and_rebuilt(
    home: Home, warnings: Callable[[], list[str]]
) -> None:
    component, weak = failing(RuntimeError("segment 3 is odd"))
    home.write("a.md", "Herons fish.\n")
    with home.open(weak, config=WEAK) as app:
        store = app.stores.resolve("default")

        report = index(app)
        result = app.search.search(SearchRequest("herons"))
        with pytest.raises(LocaldbError, match="segment 3 is odd"):
            app.engines.rebuild("dense", [store], on_progress=lambda done, total: None)
        component.error = None
        rebuilt = app.engines.rebuild("dense", [store], on_progress=lambda done, total: None)
        after = app.search.search(SearchRequest("herons"))

        assert (report.error, report.stats.docs_indexed) == (None, 1)
        assert sum("segment 3 is odd" in line for line in warnings()) == 1
        assert [c.chunk.text for c in result.citations] == ["Herons fish."]
        assert any("exact answers instead" in notice for notice in result.notices)
        assert rebuilt[0].entries == 1
        assert after.notices == ()
        assert after.explanation is not None
        assert after.explanation.legs[0].engine == "weak"


@pytest.mark.req("L-STO-04")
def test_what_a_killed_first_run_left_in_an_index_is_removed(home: Home) -> None:
    path = home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        store = app.stores.resolve("default")
        _interrupt_after_upsert(app)
        path.write_text("Storks stand.\n")

        index(app)

        assert held(app, "dense") == held(app, "sparse") == chunk_ids(app)
        assert app.stores.stats(store).chunk_count == 1


def _interrupt_after_upsert(app: LocalDB) -> None:
    """Leave the state of a process that died between the indexes and the catalog."""
    from localdb_core.storage.session import WriteSession

    real = WriteSession._replace

    def die(*args: Any) -> None:
        raise StorageUnavailable("power cut")

    WriteSession._replace = die  # type: ignore[method-assign]
    try:
        assert isinstance(index(app).error, StorageUnavailable)
    finally:
        WriteSession._replace = real  # type: ignore[method-assign]


# --- What is gone (§3.5) ---


@pytest.mark.req("L-ING-55")
@pytest.mark.req("L-INV-05")
def test_nothing_is_deleted_unless_asked_and_then_only_what_is_gone(home: Home) -> None:
    gone = home.write("gone.md", "Herons fish.\n")
    home.write("kept.md", "Storks stand.\n")
    with home.open() as app:
        index(app)
        gone.unlink()

        retained, before = index(app).stats, set(catalog(app))
        deleted, after = index(app, delete=True).stats, set(catalog(app))

        assert (retained.docs_prunable, retained.docs_deleted) == (1, 0)
        assert (deleted.docs_prunable, deleted.docs_deleted) == (0, 1)
        assert (before, after) == ({"gone.md", "kept.md"}, {"kept.md"})
        assert _words(app, "herons") == []
        assert held(app, "dense") == held(app, "sparse") == chunk_ids(app)


@pytest.mark.req("L-ING-20")
@pytest.mark.req("L-ING-52")
@pytest.mark.req("L-ING-54")
def test_a_missing_root_keeps_everything(home: Home, warnings: Callable[[], list[str]]) -> None:
    home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)
        home.documents.rename(home.folder / "elsewhere")

        stats = index(app, delete=True).stats

        assert (stats.docs_seen, stats.docs_deleted, stats.docs_prunable) == (0, 0, 0)
        assert found(app, "herons") == ["Herons fish."]
        assert any("root unavailable" in w and "1 documents kept" in w for w in warnings())


@pytest.mark.req("L-ING-53")
def test_a_root_in_which_nothing_known_is_left_keeps_everything(
    home: Home, warnings: Callable[[], list[str]]
) -> None:
    path = home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)
        path.rename(home.documents / "b.md")

        stats = index(app, delete=True).stats

        assert (stats.docs_indexed, stats.docs_deleted, stats.docs_prunable) == (1, 0, 0)
        assert set(catalog(app)) == {"a.md", "b.md"}
        assert any("none of its documents was seen" in line for line in warnings())


@pytest.mark.req("L-ING-50")
def test_a_source_never_sweeps_what_belongs_to_its_neighbour(home: Home) -> None:
    for folder in ("notes", "notes-old"):
        home.write(f"{folder}/a.md", f"Herons of {folder}.\n")
        home.write(f"{folder}/b.md", f"Storks of {folder}.\n")
    with make_app(home.folder / "home") as app:
        store = app.stores.resolve("default")
        first = app.sources.add(store, str(home.documents / "notes"))
        app.sources.add(store, str(home.documents / "notes-old"))
        index(app)
        (home.documents / "notes-old" / "a.md").unlink()

        stats = index(app, delete=True, source=first).stats
        both = index(app, delete=True).stats

        assert stats.docs_deleted == 0
        assert both.docs_deleted == 1


def test_two_sources_that_offer_the_same_file_keep_one_document(home: Home) -> None:
    home.write("sub/a.md", "Herons fish.\n")
    home.write("b.md", "Storks stand.\n")
    with home.open() as app:
        store = app.stores.resolve("default")
        inner = app.sources.add(store, str(home.documents / "sub"))

        first, again = index(app).stats, index(app, delete=True).stats
        (outer, _) = app.sources.list(store)
        app.sources.remove(outer)
        alone = index(app, delete=True).stats

        assert (first.docs_indexed, first.docs_skipped) == (2, 1)
        assert (again.docs_skipped, again.docs_deleted) == (3, 0)
        assert (alone.docs_indexed, alone.docs_deleted) == (1, 0)
        assert set(catalog(app)) == {"a.md"}
        assert app.documents.page(store, source_id=inner.id, offset=0, limit=9)[1] == 1
        assert held(app, "dense") == held(app, "sparse") == chunk_ids(app)


@pytest.mark.req("L-INV-05")
def test_a_folder_that_vanishes_during_the_run_is_one_error_and_nothing_is_removed(
    home: Home, warnings: Callable[[], list[str]]
) -> None:
    for n in range(30):
        home.write(f"{n:02}.x", f"Herons fish {n}.")
    armed = threading.Event()

    def parse(path: Path) -> Document:
        text = path.read_text()
        if armed.is_set():
            shutil.rmtree(home.documents, ignore_errors=True)
        return Document(markdown=text)

    with home.open(parser(parse)) as app:
        index(app)
        before = set(catalog(app))
        for n in range(30):
            home.write(f"{n:02}.x", f"Storks stand {n}.")
        armed.set()

        report = index(app, delete=True)

        assert report.error is None
        assert (report.stats.error_count, report.stats.docs_deleted) == (1, 0)
        assert set(catalog(app)) == before
        assert [w for w in warnings() if "vanished" in w] == [
            f"{home.documents}: it vanished during the run; nothing was removed"
        ]


@pytest.mark.req("L-DOM-11")
def test_the_same_root_under_another_spelling_is_refused(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with home.open() as app:
        store = app.stores.resolve("default")
        monkeypatch.chdir(home.folder)

        for spelling in (str(home.documents), f"{home.documents}/", "documents", "./documents/."):
            with pytest.raises(InvalidRequest, match="already has a source"):
                app.sources.add(store, spelling)


# --- Sources that fail ---


@pytest.mark.req("L-ING-33")
@pytest.mark.parametrize("fault", ["raises", "unknown"])
def test_a_source_that_fails_does_not_stop_the_others(
    home: Home, fault: str, warnings: Callable[[], list[str]]
) -> None:
    class Broken:
        def __init__(self, context: Any) -> None:
            pass

        def list(self, source: Any, accepts: Any) -> Listing:
            raise RuntimeError("the site is upside down")

    site = plugin("localdb_sources", Broken, SourceSpec, name="site", kind="site")
    home.write("a.md", "Herons fish.\n")
    with home.open(*([site] if fault == "raises" else [])) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, "https://example.org/a", kind="site")
        app.sources.add(store, str(home.write("later/b.md", "Storks stand.\n").parent))

        report = index(app)

        assert report.error is None
        assert (report.stats.error_count, report.stats.sources_count) == (1, 3)
        assert set(catalog(app)) == {"a.md", "b.md"}
        assert sum("example.org" in line for line in warnings()) == 1


# --- Parsers that run in this process ---


def threaded(parse: Callable[[Path, Any], Any], **limits: float) -> Plugin:
    """A plugin whose parser for ``.x`` files runs in a thread and is given its Progress."""

    class Parser:
        def __init__(self, context: Any) -> None:
            pass

        def parse(self, path: Path, probe: Any, progress: Any) -> Any:
            return parse(path, progress)

    spec: dict[str, Any] = {"name": "x", "suffixes": (".x",), "runs": "thread", **limits}
    return plugin("localdb_parsers", Parser, ParserSpec, **spec)


def test_a_silent_parser_in_this_process_is_told_about_once(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    def parse(path: Path, progress: Any) -> Document:
        while "has reported nothing" not in caplog.text:
            assert not threading.Event().wait(0.01)
        return Document(markdown="Herons fish.")

    home.write("a.x", "x")
    with home.open(threaded(parse, stall_limit=0.05)) as app:
        assert index(app).stats.docs_indexed == 1

    (line,) = [r.getMessage() for r in caplog.records if "reported nothing" in r.getMessage()]
    assert line.startswith(f"file:{home.documents.resolve()}/a.x: tested/x has reported nothing")
    assert "Ctrl-C twice" in line


def test_a_parser_in_this_process_ends_at_its_report_when_its_time_is_up(
    home: Home, warnings: Callable[[], list[str]]
) -> None:
    def parse(path: Path, progress: Any) -> Document:
        for page in itertools.count():
            progress(page, None)
        raise AssertionError

    home.write("a.x", "x")
    with home.open(threaded(parse, total_limit=0.05)) as app:
        stats = index(app).stats

    assert (stats.error_count, stats.docs_indexed) == (1, 0)
    assert any("not done after 0.05 s; given up" in line for line in warnings())


def test_a_cancel_reaches_a_parser_in_this_process_at_its_report(home: Home) -> None:
    cancel = threading.Event()

    def parse(path: Path, progress: Any) -> Document:
        cancel.set()
        for page in itertools.count():
            progress(page, None)
        raise AssertionError

    home.write("a.x", "x")
    with home.open(threaded(parse)) as app:
        report = index(app, cancel=cancel)

    assert isinstance(report.error, JobCancelled)


# --- Stopping ---


@pytest.mark.req("L-ING-41")
@pytest.mark.req("L-JOB-03")
def test_a_cancelled_run_keeps_what_is_done_and_the_next_one_completes_it(home: Home) -> None:
    for n in range(60):
        home.write(f"{n:02}.md", f"# Note {n}\n\nParagraph {n} on herons.\n")
    with make_app(home.folder / "undisturbed") as app:
        app.sources.add(app.stores.resolve("default"), str(home.documents))
        index(app)
        expected = catalog(app)
    cancel = threading.Event()
    done = itertools.count(1)

    def on_event(store: Store, event: Event) -> None:
        if isinstance(event, DocumentFinished) and next(done) == 10:
            cancel.set()

    with home.open() as app:
        store = app.stores.resolve("default")
        report = index(app, on_event=on_event, cancel=cancel)
        kept = app.stores.stats(store)
        rerun = index(app).stats

        assert isinstance(report.error, JobCancelled)
        assert report.stats.docs_indexed == kept.document_count
        assert report.stats.chunks_written == kept.chunk_count
        assert 10 <= kept.document_count < 60
        assert rerun.docs_skipped == kept.document_count
        assert rerun.docs_indexed == 60 - kept.document_count
        assert catalog(app) == expected
        assert held(app, "dense") == held(app, "sparse") == chunk_ids(app)


def test_a_cancelled_run_does_not_touch_the_other_stores(home: Home) -> None:
    home.write("a.md", "Herons fish.\n")
    cancel = threading.Event()
    cancel.set()
    with home.open() as app:
        other = app.stores.add("other")
        app.sources.add(other, str(home.documents))

        reports = app.index(app.stores.list(), cancel=cancel)

        assert [type(report.error) for report in reports] == [JobCancelled]


def test_an_error_of_the_callback_ends_the_run_and_frees_the_store(home: Home) -> None:
    for n in range(30):
        home.write(f"{n}.md", f"Herons fish {n}.\n")

    def on_event(store: Store, event: Event) -> None:
        if isinstance(event, DocumentFinished):
            raise ZeroDivisionError

    with home.open() as app:
        before = threading.active_count()
        with pytest.raises(ZeroDivisionError):
            index(app, on_event=on_event)

        with app.catalog.connections.read() as db:
            states = [row[0] for row in db.execute("SELECT state FROM jobs")]
        assert states == ["failed"]
        assert threading.active_count() == before
        assert index(app).stats.docs_indexed == 30


@pytest.mark.req("L-ING-60")
def test_events_come_in_order_and_add_up(home: Home) -> None:
    home.write("a.md", "Herons fish.\n")
    home.write("b.md", "")
    events: list[dict[str, Any]] = []
    with home.open() as app:
        index(app, on_event=lambda store, event: events.append(event.to_json()))

    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["source_started", "discovered"]
    assert kinds[2:-1] == ["document_started", "document_finished"] * 2
    assert events[1]["total"] == 2
    assert events[-1]["type"] == "source_finished"
    assert events[-1]["result"]["docs_seen"] == 2
    outcomes = {event["uri"][-4:]: event["outcome"] for event in events if "outcome" in event}
    assert outcomes == {
        "a.md": {"outcome": "indexed", "chunks": 1},
        "b.md": {"outcome": "skipped"},
    }


def test_a_store_without_sources_is_idle_and_loads_nothing(home: Home) -> None:
    with make_app(home.folder / "home", config=embedding("nobody")) as app:
        report = index(app)

        assert report.idle
        assert report.job_id is None


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [t.name for t in set(threading.enumerate()) - before if t.is_alive() and not t.daemon]
    assert left == []
