"""What each kind of change does again, counted; and the plan, held against the run."""

from __future__ import annotations

import itertools
import logging
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from localdb_core.app import LocalDB
from localdb_core.config.model import SIZABLE
from localdb_core.domain import Metadata, SearchRequest, UnsupportedFormat
from localdb_core.domain.block import Block
from localdb_core.domain.events import DocumentFinished, DocumentStarted, Event, IndexStats
from localdb_core.domain.ids import SourceId, new_ulid
from localdb_core.domain.reports import PlanAction, PlanRow
from localdb_core.domain.store import Source, Store
from localdb_core.pipeline import plan as plan_module
from localdb_core.pipeline.presets import PRESETS, presets_with
from localdb_core.pipeline.recipe import Recipe, read_recipe
from localdb_core.plugin import Declined, Document, ParserSpec, PluginInfo, hookimpl
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app

Plugin = tuple[str, ModuleType]
_numbers = itertools.count()


def plugin(plugin_name: str, hook: str, component: Any, spec: Any, **fields: Any) -> Plugin:
    """A plugin of one component."""
    module = ModuleType(f"rules_test_plugin_{next(_numbers)}")
    described = spec(target=f"{module.__name__}:component", **fields)

    def offer() -> list[Any]:
        return [described]

    offer.__name__ = hook
    vars(module).update({"PLUGIN": PluginInfo(api="1.0"), "__file__": "", "component": component})
    vars(module)[hook] = hookimpl(offer)
    sys.modules[module.__name__] = module
    return plugin_name, module


def parser(
    name: str, parse: Callable[[Path], Any] | None = None, *, version: str = "1", **claims: Any
) -> Plugin:
    """A plugin with one parser; what it claims is ``.x`` files unless said otherwise."""

    class Parser:
        def __init__(self, context: Any) -> None:
            pass

        def parse(self, path: Path, probe: Any, progress: Any) -> Any:
            return Document(markdown=path.read_text()) if parse is None else parse(path)

    claims = claims or {"suffixes": (".x",)}
    return plugin(
        name,
        "localdb_parsers",
        Parser,
        ParserSpec,
        name=name,
        version=version,
        runs="thread",
        **claims,
    )


class Counts:
    """How often files were read and parsed, documents cut and texts embedded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[str] = []
        self.parsed: list[str] = []
        self.cut = 0
        self.embedded: list[str] = []
        from localdb_core.pipeline import ingest, parse, prepare
        from localdb_core.testing import memory

        hash_file, parse_one = ingest.hash_file, parse.ParserRunner.parse
        cut, embed = prepare.chunk_document, memory.FakeEmbedder.embed

        def hashed(path: Path) -> str:
            self.read.append(path.name)
            return hash_file(path)

        def parsed(runner: Any, path: Path, probe: Any) -> Any:
            self.parsed.append(path.name)
            return parse_one(runner, path, probe)

        def chunked(*args: Any, **options: Any) -> Any:
            self.cut += 1
            return cut(*args, **options)

        def embedded(embedder: Any, texts: Sequence[str], role: Any) -> Any:
            if role == "passage":
                self.embedded.extend(texts)
            return embed(embedder, texts, role)

        monkeypatch.setattr(ingest, "hash_file", hashed)
        monkeypatch.setattr(parse.ParserRunner, "parse", parsed)
        monkeypatch.setattr(prepare, "chunk_document", chunked)
        monkeypatch.setattr(memory.FakeEmbedder, "embed", embedded)

    @property
    def all(self) -> tuple[int, int, int, int]:
        """Reads, parses, chunkings, embedded texts since the last look."""
        counted = (len(self.read), len(self.parsed), self.cut, len(self.embedded))
        self.read, self.parsed, self.cut, self.embedded = [], [], 0, []
        return counted


class Home:
    """A folder of documents and the application that indexes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.documents = self.folder / "documents"
        self.documents.mkdir()

    def open(
        self, *plugins: Plugin, config: Mapping[str, Any] | None = None, **indexing: Any
    ) -> LocalDB:
        if indexing:
            embedding = {"provider": "fake", "model": "fake"}
            config = {**MEMORY, "defaults": {"indexing": {"embedding": embedding, **indexing}}}
        plugins = (("memory", memory_plugin), *plugins)
        app = make_app(self.folder / "home", plugins=plugins, config=config)
        store = app.stores.resolve("default")
        if not app.sources.list(store):
            app.sources.add(store, str(self.documents))
        return app

    def write(self, name: str, text: str) -> Path:
        path = self.documents / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def index(app: LocalDB, **options: Any) -> IndexStats:
    (report,) = app.index([app.stores.resolve("default")], **options)
    assert report.error is None
    return report.stats


def planned(app: LocalDB, **options: Any) -> dict[str, tuple[str, str]]:
    """Action and reason by the last part of the URI."""
    rows = app.plan([app.stores.resolve("default")], **options)
    return {row.uri.rpartition("/")[2]: (str(row.action), row.reason) for row in rows}


def names(app: LocalDB) -> set[str]:
    store = app.stores.resolve("default")
    rows, _ = app.documents.page(store, source_id=None, offset=0, limit=1000)
    return {row.uri.rpartition("/")[2] for row in rows}


def recipe(app: LocalDB, name: str) -> Recipe:
    known = app.catalog.resources.known(app.stores.resolve("default").id)
    (text,) = (row.chunking for uri, row in known.items() if uri.endswith(f"/{name}"))
    made = read_recipe(text)
    assert made is not None
    return made


def paths(app: LocalDB) -> dict[str, tuple[str, ...]]:
    """Heading trail of every chunk by its text, from the catalog."""
    store = app.stores.resolve("default")
    rows, _ = app.documents.page(store, source_id=None, offset=0, limit=100)
    chunks = (c for row in rows for c in app.catalog.passages.chunks(store.id, row.id))
    return {chunk.text: chunk.heading_path for chunk in chunks}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    return Counts(monkeypatch)


# --- The rows of the table. Counted are reads, parses, chunkings and embedded texts. ---


@pytest.mark.req("L-ING-43")
def test_nothing_changed_and_a_new_time_cost_nothing_and_one_read(
    home: Home, counts: Counts
) -> None:
    path = home.write("a.md", "# Herons\n\nThey fish at dawn.\n")
    with home.open() as app:
        index(app)
        assert counts.all == (1, 1, 1, 1)

        assert planned(app)["a.md"] == ("skip", "unchanged")
        index(app)
        assert counts.all == (0, 0, 0, 0)

        os.utime(path, ns=(10**18, 10**18))
        assert planned(app)["a.md"] == ("skip", "only its time changed, not its bytes")
        index(app)
        assert counts.all == (1, 0, 0, 0)
        index(app)
        assert counts.all == (0, 0, 0, 0)


@pytest.mark.req("L-ING-34")
@pytest.mark.req("L-BYD-02")
def test_metadata_that_no_chunk_shows_is_stored_without_cutting(home: Home, counts: Counts) -> None:
    front = "---\ntitle: Birds\nauthor: {}\n---\n\nHerons fish.\n"
    path = home.write("a.md", front.format("Ann"))

    def parse(path: Path) -> Document:
        author = path.read_text().partition("author: ")[2].partition("\n")[0]
        metadata = Metadata(title="Birds", creator=(author,), date="2020")
        return Document(markdown="Herons fish.\n", metadata=metadata)

    with home.open(parser("x", parse, suffixes=(".md",)), parsers=["x", "plaintext"]) as app:
        index(app)
        counts.all  # noqa: B018 - starts the count anew
        path.write_text(front.format("Bob"))

        stats = index(app)

        assert counts.all == (1, 1, 0, 0)
        assert (stats.docs_skipped, stats.docs_indexed) == (1, 0)
        (hit,) = app.search.search(SearchRequest("herons")).citations
        assert hit.resource.metadata.creator == ("Bob",)
        index(app)
        assert counts.all == (0, 0, 0, 0)


@pytest.mark.req("L-ING-34")
@pytest.mark.req("L-BYD-02")
def test_a_new_title_embeds_only_texts_that_show_it(home: Home, counts: Counts) -> None:
    def parse(path: Path) -> Document:
        title, _, text = path.read_text().partition("\n")
        return Document(markdown=text, metadata=Metadata(title=title))

    text = "# Lagoon\n\nHerons fish.\n\n# Estuary\n\nStorks stand.\n"
    path = home.write("a.x", f"Lagoon\n{text}")
    with home.open(parser("x", parse)) as app:
        index(app)
        counts.all  # noqa: B018
        path.write_text(f"lagoon\n{text}")

        index(app)

        # Under its own heading the title is not repeated, so that text stays as it was.
        assert counts.embedded == ["lagoon > Estuary\n\nStorks stand."]
        assert counts.all == (1, 1, 1, 1)


@pytest.mark.req("L-BYD-02")
def test_another_heading_level_changes_the_trail_and_embeds_nothing_needlessly(
    home: Home, counts: Counts
) -> None:
    path = home.write("a.md", "# Birds\n\nHerons fish.\n\n# Reeds\n\nThey grow.\n")
    with home.open() as app:
        index(app)
        counts.all  # noqa: B018
        path.write_text("# Birds\n\nHerons fish.\n\n## Reeds\n\nThey grow.\n")

        stats = index(app)

        # "Birds > Reeds" is what was embedded before too: title and heading, then below it.
        assert (stats.docs_indexed, counts.all) == (1, (1, 1, 1, 0))
        assert paths(app)["They grow."] == ("Birds", "Reeds")

        path.write_text("# Birds\n\nHerons fish.\n\n### Reeds\n\nThey grow.\n")
        index(app)
        assert counts.all == (1, 1, 1, 0)
        assert paths(app)["They grow."] == ("Birds", "", "Reeds")
        assert index(app).docs_skipped == 1
        assert counts.all == (0, 0, 0, 0)


def test_another_language_of_code_is_stored_though_the_text_is_the_same(
    home: Home, counts: Counts
) -> None:
    path = home.write("a.md", "Herons:\n\n```py\nfish()\n```\n")
    with home.open() as app:
        index(app)
        path.write_text("Herons:\n\n```js\nfish()\n```\n")
        counts.all  # noqa: B018

        index(app)

        store = app.stores.resolve("default")
        (row,) = app.documents.page(store, source_id=None, offset=0, limit=9)[0]
        blocks = app.catalog.passages.blocks(store.id, row.id)
        assert counts.all == (1, 1, 1, 0)
        assert [b.details.get("language") for b in blocks if b.kind == "code"] == ["js"]


@pytest.mark.req("L-BYD-03")
def test_a_better_parser_reads_only_its_own_documents_again(home: Home, counts: Counts) -> None:
    home.write("a.md", "Herons fish.\n")
    home.write("b.x", "Storks stand.\n")
    home.write("c.x", "Reeds grow.\n")
    with home.open(parser("x")) as app:
        index(app)
        counts.all  # noqa: B018

    def better(path: Path) -> Document:
        text = path.read_text()
        if path.name == "b.x":  # finds a heading in the first, nothing new in the second
            return Document.of_blocks([Block.heading("Storks", level=1), Block.text_run(text)])
        return Document(markdown=text)

    with home.open(parser("x", better, version="2")) as app:
        plan = planned(app)
        stats = index(app)

        assert plan["a.md"] == ("skip", "unchanged; the new parsers do not concern it")
        assert plan["b.x"] == ("reparse", "parser x/x has a new version")
        assert counts.read == ["b.x", "c.x"] or counts.read == ["c.x", "b.x"]
        assert counts.all == (2, 2, 1, 1)
        assert (stats.docs_indexed, stats.docs_skipped) == (1, 2)
        index(app)
        assert counts.all == (0, 0, 0, 0)


def test_a_parser_put_first_reads_only_what_it_claims_again(home: Home, counts: Counts) -> None:
    home.write("a.md", "Herons fish.\n")
    home.write("b.txt", "Storks stand.\n")
    home.write("c.x", "Nobody reads this yet.\n")
    with home.open(parser("late", suffixes=(".md",)), parsers=["markdown", "plaintext"]) as app:
        index(app)
        assert counts.all == (2, 2, 2, 2)

    # The same, installed beside and after: nothing changes until it is written first.
    both = (parser("late", suffixes=(".md",)), parser("x", suffixes=(".x",)))
    with home.open(*both, parsers=["markdown", "plaintext"]) as app:
        plan = planned(app)
        index(app)
        assert counts.all == (1, 1, 1, 1)
        assert {name: row[0] for name, row in plan.items()} == {
            "a.md": "skip",
            "b.txt": "skip",
            "c.x": "add",
        }

    with home.open(*both, parsers=["late", "markdown", "plaintext"]) as app:
        plan = planned(app)
        stats = index(app)
        assert plan["a.md"] == ("reparse", "parser late/late comes first now")
        assert counts.all == (1, 1, 0, 0)  # it read the same blocks
        assert stats.docs_skipped == 3
        index(app)
        assert counts.all == (0, 0, 0, 0)


def test_a_parser_that_declined_is_asked_again_only_in_a_new_version(
    home: Home, counts: Counts
) -> None:
    home.write("a.md", "Herons fish.\n")
    home.write("b.txt", "Storks stand.\n")

    def decline(path: Path) -> Declined:
        return Declined("not mine")

    def first(version: str) -> Plugin:
        return parser("first", decline, version=version, suffixes=(".md",))

    with home.open(first("1"), parsers=["first", "markdown", "plaintext"]) as app:
        index(app)
        counts.all  # noqa: B018
        assert recipe(app, "a.md").declined == ("first/first 1",)
        index(app)
        assert counts.all == (0, 0, 0, 0)

    with home.open(first("2"), parsers=["first", "markdown", "plaintext"]) as app:
        assert planned(app)["a.md"] == ("reparse", "parser first/first comes first now")
        index(app)
        assert counts.all == (1, 1, 0, 0)
        index(app)
        assert counts.all == (0, 0, 0, 0)


@pytest.mark.req("L-ING-40")
@pytest.mark.req("L-ING-44")
@pytest.mark.req("L-BYD-04")
@pytest.mark.req("L-DOM-04")
def test_another_chunk_size_cuts_the_stored_blocks_of_that_preset_only(
    home: Home, counts: Counts
) -> None:
    sentences = [f"Sentence number {n} is about herons that fish at dawn." for n in range(8)]
    prose = home.write("a.md", " ".join(sentences) + "\n")
    home.write("short.md", "Storks stand.\n")
    home.write("b.py", "x = 1\n")
    with home.open() as app:
        before = index(app).chunks_written
        policy = app.stores.resolve("default").policy_version
        counts.all  # noqa: B018
    prose.chmod(0)  # neither read nor parsed

    with home.open(chunking={"preset_overrides": {"prose": "24"}}) as app:
        plan = planned(app)
        stats = index(app)

        assert plan["a.md"] == ("reparse", "re-chunk: another chunk size (target 256 to 24)")
        assert plan["b.py"] == ("skip", "unchanged; the new policy does not concern it")
        assert before == 3
        assert (stats.docs_indexed, stats.docs_skipped) == (1, 2)  # the short one is cut the same
        assert stats.chunks_written > 2
        assert counts.all == (0, 0, 2, stats.chunks_written)
        assert recipe(app, "a.md").sizes[0] == 24
        assert recipe(app, "b.py").sizes[0] == 256
        assert app.stores.resolve("default").policy_version != policy
        index(app)
        assert counts.all == (0, 0, 0, 0)
    prose.chmod(0o644)


def test_a_size_for_code_goes_for_code_in_every_file_and_keeps_the_rest(
    home: Home, counts: Counts
) -> None:
    code = "\n".join(f"line_{n} = {n}" for n in range(8))
    home.write("a.md", f"Herons fish.\n\n```py\n{code}\n```\n\nStorks stand.\n")
    with home.open() as app:
        index(app)
        counts.all  # noqa: B018

    with home.open(chunking={"preset_overrides": {"code": "40"}}) as app:
        stats = index(app)

        assert stats.chunks_written == 2 + 3
        assert counts.all == (0, 0, 1, 3)  # the two paragraphs keep their vectors (S-4)


def test_a_new_version_of_a_chunker_cuts_only_what_it_cut(home: Home, counts: Counts) -> None:
    home.write("a.md", "Herons fish.\n")
    home.write("b.md", "| bird |\n| --- |\n| stork |\n")
    with home.open() as app:
        index(app)
        counts.all  # noqa: B018
        assert recipe(app, "a.md").chunkers == {"text": "core/prose 1"}
        assert recipe(app, "b.md").chunkers == {"table": "core/table 1"}
        with app.catalog.connections.write() as db:
            db.execute("UPDATE resources SET chunking = replace(chunking, 'table 1', 'table 0')")

        plan = planned(app)
        index(app)

        assert plan["a.md"] == ("skip", "unchanged")
        assert plan["b.md"][1] == (
            "re-chunk: its table is cut by core/table 1, no longer by core/table 0"
        )
        assert counts.all == (0, 0, 1, 0)
        assert recipe(app, "b.md").chunkers == {"table": "core/table 1"}


def test_another_algorithm_cuts_everything_from_what_is_stored(
    home: Home, counts: Counts, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)
        counts.all  # noqa: B018
        for module in ("recipe", "plan"):
            owner = sys.modules[f"localdb_core.pipeline.{module}"]
            if hasattr(owner, "CHUNK_ALGORITHM"):
                monkeypatch.setattr(owner, "CHUNK_ALGORITHM", "other-v2")

        assert planned(app)["a.md"][1].startswith("re-chunk: texts are cut by other-v2")
        index(app)
        assert counts.all == (0, 0, 1, 0)


def test_a_document_from_before_the_record_is_read_once_more(home: Home, counts: Counts) -> None:
    home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)
        counts.all  # noqa: B018
        for spoiled in ("", "{", "[]", '{"sizes":[],"declined":[],"more":1}'):
            with app.catalog.connections.write() as db:
                db.execute("UPDATE resources SET chunking = ?", (spoiled,))

            assert planned(app)["a.md"] == ("reparse", "it is not recorded how it was made")
            index(app)
            assert counts.all == (1, 1, 1, 0)
            index(app)
            assert counts.all == (0, 0, 0, 0)


def test_every_size_that_the_config_may_name_is_a_preset() -> None:
    assert set(SIZABLE) == set(PRESETS)
    sizes = presets_with({"prose": "99", "messages": "98", "code": "1000"})
    assert [sizes[name].target for name in ("prose", "messages", "code")] == [99, 98, 256]
    assert {preset.code_limit for preset in sizes.values()} == {1000}
    assert plan_module.RULES


# --- The plan says what the run does ---


def database(home: Home) -> dict[str, bytes]:
    """The bytes of the catalog and of everything beside it."""
    data = home.folder / "home" / "data"
    return {str(p): p.read_bytes() for p in sorted(data.rglob("*")) if p.is_file()}


class Told:
    """What a run says about each document: taken up, and what became of it."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.outcomes: dict[str, list[str]] = {}

    def __call__(self, store: Store, event: Event) -> None:
        if isinstance(event, DocumentStarted):
            self.taken[event.uri] += 1
        elif isinstance(event, DocumentFinished):
            self.outcomes.setdefault(event.uri, []).append(str(event.outcome))


class Changes:
    """Random changes of a folder and of what is installed and configured."""

    def __init__(self, home: Home, seed: int) -> None:
        self.home = home
        self.random = random.Random(seed)
        self.version = "1"
        self.size: str | None = None
        self.parser = True
        self.moved = False

    def open(self) -> LocalDB:
        plugins = [parser("x", version=self.version)] if self.parser else []
        sizes = {"preset_overrides": {"prose": self.size}} if self.size else {}
        return self.home.open(*plugins, chunking=sizes)

    def change(self) -> None:
        documents = self.home.documents
        if self.moved:
            (self.home.folder / "away").rename(documents)
            self.moved = False
        for _ in range(self.random.randint(1, 4)):
            self._one(documents / self.random.choice(["a.md", "b.md", "s/c.md", "s/d.x", "e.x"]))
        if self.random.random() < 0.2:
            documents.rename(self.home.folder / "away")
            self.moved = True

    def _one(self, path: Path) -> None:
        what = self.random.choice(["write", "touch", "delete", "link", "move", "config"])
        path.parent.mkdir(exist_ok=True)
        if what == "write":
            path.unlink(missing_ok=True)
            number = self.random.randint(0, 3)
            path.write_text("" if number == 0 else f"# Birds\n\nParagraph {number}. " * 4 * number)
        elif what == "touch" and path.exists():
            os.utime(path, ns=(10**18, self.random.randint(1, 10**18)))
        elif what == "delete":
            path.unlink(missing_ok=True)
        elif what == "link":
            path.unlink(missing_ok=True)
            path.symlink_to(path.parent / "nowhere")
        elif what == "move" and path.exists():
            path.rename(path.parent / "moved.md")
        elif what == "config":
            self.version = self.random.choice(["1", "2"])
            self.size = self.random.choice([None, "16", "32"])
            self.parser = self.random.random() < 0.7


@pytest.mark.req("L-BYD-39")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_plan_changes_nothing_and_is_what_the_run_then_does(home: Home, seed: int) -> None:
    changes = Changes(home, seed)
    home.write("a.md", "Herons fish.\n")
    (home.documents / "s").mkdir()
    with changes.open() as app:  # the second source lies within the first
        app.sources.add(app.stores.resolve("default"), str(home.documents / "s"))
    for step in range(12):
        changes.change()
        delete = bool(step % 2)
        with changes.open() as app:
            store = app.stores.resolve("default")
            held = set(app.catalog.resources.known(store.id))
            before = database(home)

            rows = app.plan([store], delete=delete)

            assert database(home) == before
            told = Told()
            stats = index(app, delete=delete, on_event=told)
            left = set(app.catalog.resources.known(store.id))
            _agree(rows, told, stats, held=held, left=left, delete=delete)


def _agree(
    rows: Sequence[PlanRow],
    told: Told,
    stats: IndexStats,
    *,
    held: set[str],
    left: set[str],
    delete: bool,
) -> None:
    acted = Counter(r.uri for r in rows if r.action in (PlanAction.ADD, PlanAction.REPARSE))
    unneeded = ("only its time changed", "the file is empty now")  # read, and nothing written
    for uri, times in (told.taken - acted).items():
        (row,) = (r for r in rows if r.uri == uri and r.reason.startswith(unneeded))
        assert (times, row.action) == (1, PlanAction.SKIP)
    assert acted - told.taken == Counter()
    assert all(uri not in held for uri in (r.uri for r in rows if r.action is PlanAction.ADD))
    listed = {r.uri for r in rows if not r.reason.startswith(("kept", "no longer", "root un"))}
    assert listed == set(told.outcomes)
    pruned = {r.uri for r in rows if r.action is PlanAction.PRUNE}
    kept = {r.uri for r in rows if r.reason.startswith("kept: ")}
    assert held - left == (pruned if delete else set())
    assert kept <= left
    assert (stats.docs_deleted, stats.docs_prunable) == (
        (len(pruned), 0) if delete else (0, len(pruned))
    )


def test_a_plan_loads_no_model_and_builds_no_parser(
    home: Home, counts: Counts, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localdb_core.services.components import Components
    from localdb_core.services.indexing import Indexing

    home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)
        counts.all  # noqa: B018

    def never(*args: Any, **options: Any) -> Any:
        raise AssertionError("a plan needs none of this")

    for owner, name in (
        (Components, "build_embedder"),
        (Indexing, "_runner"),
        (Indexing, "_chunkers"),
    ):
        monkeypatch.setattr(owner, name, never)
    home.write("b.md", "Storks stand.\n")
    with home.open(chunking={"preset_overrides": {"prose": "99"}}) as app:
        assert {name: row[0] for name, row in planned(app).items()} == {
            "a.md": "reparse",
            "b.md": "add",
        }
        assert counts.all == (0, 0, 0, 0)


@pytest.mark.req("L-BYD-39")
@pytest.mark.req("L-ING-52")
@pytest.mark.req("L-ING-53")
def test_the_plan_tells_what_is_kept_and_why(home: Home) -> None:
    home.write("a.md", "Herons fish.\n")
    home.write("b.x", "Storks stand.\n")
    home.write("c.md", "Reeds grow.\n")
    with home.open(parser("x")) as app:
        index(app)
    (home.documents / "c.md").unlink()
    with home.open() as app:
        assert planned(app) == {
            "a.md": ("skip", "unchanged; the new parsers do not concern it"),
            "b.x": ("skip", "kept: no parser in use takes it"),
            "c.md": ("prune", "no longer at source; kept without --delete"),
        }
        assert planned(app, delete=True)["c.md"] == ("prune", "no longer at source")

        (home.documents / "a.md").unlink()
        assert planned(app, delete=True)["a.md"] == (
            "skip",
            "kept: none of its documents was seen",
        )

        home.documents.rename(home.folder / "away")
        plan = planned(app, delete=True)
        assert plan["documents"] == ("skip", f"root unavailable: {home.documents}")
        assert plan["a.md"] == ("skip", f"kept: root unavailable: {home.documents}")
        index(app, delete=True)
        assert names(app) == {"a.md", "b.x", "c.md"}


@pytest.mark.req("L-INV-05")
def test_what_no_parser_in_use_takes_is_not_looked_for_and_not_forgotten(home: Home) -> None:
    home.write("a.txt", "Herons fish.\n")
    home.write("b.md", "Storks stand.\n")
    home.write("c.odd", "Reeds grow.\n")
    gone = home.write("d.txt", "Otters swim.\n")
    with home.open(parser("x", suffixes=(".x", ".odd"))) as app:
        index(app)
    gone.unlink()
    indexing = {**MEMORY["defaults"]["indexing"], "parsers": ["plaintext", "x"]}
    config = {**MEMORY, "defaults": {"indexing": indexing}, "plugins": {"auto_parsers": False}}

    with home.open(parser("x", suffixes=(".x",)), config=config) as app:
        plan = planned(app, delete=True)
        deleted = index(app, delete=True).docs_deleted

        assert plan["b.md"] == plan["c.odd"] == ("skip", "kept: no parser in use takes it")
        assert plan["d.txt"] == ("prune", "no longer at source")
        assert deleted == 1
        assert names(app) == {"a.txt", "b.md", "c.odd"}


@pytest.mark.req("L-INV-05")
@pytest.mark.req("L-ING-52")
@pytest.mark.req("L-ING-54")
@pytest.mark.parametrize("away", ["unmounted", "renamed"])
def test_documents_behind_a_link_stay_while_its_folder_is_away(
    home: Home, away: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("localdb"), "propagate", True)
    disk = home.folder / "disk"
    disk.mkdir()
    (disk / "far.md").write_text("Storks stand.\n")
    home.write("near.md", "Herons fish.\n")
    gone = home.write("gone.md", "Reeds grow.\n")
    (home.documents / "disk").symlink_to(disk)
    with home.open() as app:
        index(app)
        gone.unlink()
        disk.rename(home.folder / "shelf")
        if away == "unmounted":
            disk.mkdir()

        assert planned(app, delete=True)["far.md"][0] == "skip"
        assert index(app, delete=True).docs_deleted == 0
        assert names(app) == {"near.md", "far.md", "gone.md"}
        assert "2 documents kept" in caplog.text

        (home.documents / "disk").unlink()  # now it is known that nothing is there
        assert index(app, delete=True).docs_deleted == 2
        assert names(app) == {"near.md"}


def test_the_plan_says_what_it_cannot_look_at_and_goes_on(home: Home) -> None:
    home.write("a.md", "Herons fish.\n")
    (home.documents / "broken.md").symlink_to(home.documents / "nowhere.md")
    odd = home.write("odd/thing.unknown", "?")
    with home.open() as app:
        store = app.stores.resolve("default")
        app.sources.add(store, "https://example.org/feed", kind="feed")
        app.sources.add(store, str(odd))

        plan = planned(app)

        assert plan["a.md"] == ("add", "new")
        assert plan["nowhere.md"][1].startswith("broken link")
        assert plan["feed"] == ("skip", "invalid config: no installed plugin reads feed sources")
        assert plan["thing.unknown"] == ("skip", "no parser takes this kind of file")
        assert index(app).docs_indexed == 1


def test_a_plan_under_another_model_says_that_the_run_will_refuse_it(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)
    other = {"indexing": {"embedding": {"provider": "fake", "model": "large"}}}
    with home.open(config={**MEMORY, "defaults": other}) as app:
        planned(app)

    assert "was embedded with fake fake, the config says fake large" in caplog.text


# --- Whose a document is, and what stays ---


def test_a_document_emptied_to_nothing_keeps_its_last_version_and_says_so(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    path = home.write("a.md", "Herons fish.\n")
    heading = home.write("b.md", "Storks stand.\n")
    with home.open() as app:
        index(app)
        path.write_text("")
        heading.write_text("![](stork.png)\n")  # a block, and nothing to cut

        stats = index(app, delete=True)

        assert (stats.docs_skipped, stats.docs_deleted) == (2, 0)
        assert names(app) == {"a.md", "b.md"}
        said = [
            r.getMessage() for r in caplog.records if "its last version is kept" in r.msg % r.args
        ]
        assert [line.partition(": ")[0].rpartition("/")[2] for line in sorted(said)] == [
            "a.md",
            "b.md",
        ]


def owner(app: LocalDB, name: str) -> str:
    known = app.catalog.resources.known(app.stores.resolve("default").id)
    return next(row.source_id for uri, row in known.items() if uri.endswith(f"/{name}"))


@pytest.mark.req("L-BYD-05")
def test_a_shared_document_stays_with_its_source_while_that_one_offers_it(
    home: Home, counts: Counts
) -> None:
    path = home.write("sub/a.md", "Herons fish.\n")
    home.write("b.md", "Storks stand.\n")
    with home.open() as app:
        store = app.stores.resolve("default")
        outer = app.sources.list(store)[0]
        inner = app.sources.add(store, str(home.documents / "sub"), preset="code")
        for text in ("Herons fish.\n", "Herons fly.\n", "Herons sleep.\n"):
            path.write_text(text)
            for source in (inner, None, outer, inner):
                index(app, source=source, delete=True)
            if text == "Herons fish.\n":
                first = owner(app, "a.md")
                counts.all  # noqa: B018

        assert owner(app, "a.md") == first == inner.id
        assert counts.all == (2, 2, 2, 2)  # once for each change, whoever meets it
        assert recipe(app, "a.md").preset == "code"
        assert planned(app)["b.md"][0] == "skip"


@pytest.mark.req("L-BYD-05")
def test_a_document_that_its_source_gave_up_goes_over_to_the_one_that_has_it(
    home: Home, counts: Counts
) -> None:
    home.write("sub/a.md", "Herons fish.\n")
    home.write("sub/c.md", "Reeds grow.\n")
    home.write("b.md", "Storks stand.\n")
    with home.open() as app:
        store = app.stores.resolve("default")
        outer = app.sources.list(store)[0]
        index(app)
        inner = app.sources.add(store, str(home.documents / "sub"))
        with app.catalog.connections.write() as db:  # as an exclude that was added later
            db.execute("UPDATE sources SET exclude = '[\"sub\"]' WHERE id = ?", (outer.id,))
        (home.documents / "sub" / "c.md").unlink()
        outer = app.catalog.sources.get(outer.id)
        counts.all  # noqa: B018

        alone = index(app, source=outer, delete=True)

        assert (alone.docs_deleted, names(app)) == (1, {"a.md", "b.md"})
        assert owner(app, "a.md") == outer.id
        assert planned(app)["a.md"] == ("skip", "unchanged; it belongs to this source now")
        index(app, delete=True)
        assert owner(app, "a.md") == inner.id
        assert counts.all == (0, 0, 0, 0)

        app.sources.remove(outer)
        assert names(app) == {"a.md"}


@pytest.mark.req("L-BYD-05")
def test_a_source_that_cannot_be_listed_keeps_what_may_be_its_own(home: Home) -> None:
    inner = home.folder / "inner"
    inner.mkdir()
    (inner / "a.md").write_text("Herons fish.\n")
    home.write("b.md", "Storks stand.\n")
    home.write("c.md", "Reeds grow.\n")
    link = home.documents / "linked"
    link.symlink_to(inner)
    with home.open() as app:
        store = app.stores.resolve("default")
        index(app)
        app.sources.add(store, str(inner))
        link.unlink()
        (home.documents / "c.md").unlink()
        inner.rename(home.folder / "unmounted")

        stats = index(app, delete=True)

        assert stats.docs_deleted == 1  # c.md lies nowhere near the missing folder
        assert names(app) == {"a.md", "b.md"}


@pytest.mark.req("L-ING-33")
def test_a_source_with_an_unknown_preset_is_one_error_and_the_others_are_read(home: Home) -> None:
    home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        store = app.stores.resolve("default")
        app.catalog.sources.add(
            Source(SourceId(new_ulid()), store.id, "path", root=str(home.folder), preset="poem")
        )
        (home.folder / "later").mkdir()
        (home.folder / "later" / "b.md").write_text("Storks stand.\n")
        app.sources.add(store, str(home.folder / "later"))

        stats = index(app)

        assert (stats.error_count, names(app)) == (1, {"a.md", "b.md"})


@pytest.mark.req("L-ING-12")
@pytest.mark.req("L-BYD-16")
def test_a_source_finds_what_a_parser_installed_later_reads(home: Home, counts: Counts) -> None:
    home.write("a.md", "Herons fish.\n")
    home.write("b.x", "Storks stand.\n")
    with home.open() as app:
        index(app)
        assert names(app) == {"a.md"}
        counts.all  # noqa: B018

    with home.open(parser("x")) as app:
        assert planned(app)["b.x"] == ("add", "new")
        index(app)
        assert names(app) == {"a.md", "b.x"}
        assert counts.all == (1, 1, 1, 1)


@pytest.mark.req("L-ING-32")
def test_a_scan_without_text_is_unsupported_with_one_warning_and_no_error(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    def parse(path: Path) -> Document:
        raise UnsupportedFormat("the pages are pictures, without any text")

    home.write("scan.x", "x")
    with home.open(parser("x", parse)) as app:
        stats = index(app)

    assert (stats.unsupported_format_count, stats.error_count) == (1, 0)
    (line,) = [r.getMessage() for r in caplog.records if "scan.x" in r.getMessage()]
    assert "the pages are pictures" in line


@pytest.mark.req("L-BYD-14")
def test_what_a_person_has_looked_at_may_go_though_nothing_of_its_source_is_seen(
    home: Home,
) -> None:
    first, second = home.write("a.md", "Herons fish.\n"), home.write("b.md", "Reeds grow.\n")
    home.write("other/c.md", "Storks stand.\n")
    with home.open() as app:
        store = app.stores.resolve("default")
        index(app)
        first.unlink()
        assert app.unseen([store]) == []  # the ordinary --delete takes it
        second.rename(home.documents / "moved.md")
        (home.documents / "other" / "c.md").unlink()

        looked_at = app.unseen([store])
        partly = looked_at[:-1]  # as if one more had vanished since

        assert len(looked_at) == 3
        assert index(app, delete=True, confirmed=partly).docs_deleted == 0
        assert index(app, confirmed=looked_at).docs_deleted == 0
        home.write("a.md", "Herons are back.\n")
        assert index(app, delete=True, confirmed=looked_at).docs_deleted == 2
        assert names(app) == {"a.md", "moved.md"}


@pytest.mark.req("L-BYD-14")
def test_an_emptied_file_may_go_when_a_person_says_so_and_it_still_is_empty(home: Home) -> None:
    paths = [home.write(f"{name}.md", f"Herons fish in {name}.\n") for name in "abc"]
    with home.open() as app:
        store = app.stores.resolve("default")
        index(app)
        for path in paths[:2]:
            path.write_text("")

        assert planned(app)["a.md"] == ("skip", "the file is empty now; its last version is kept")
        looked_at = app.unseen([store])
        assert [row.uri[-4:] for row in looked_at] == ["a.md", "b.md"]
        assert index(app, delete=True).docs_deleted == 0
        paths[1].write_text("Herons are back.\n")
        stats = index(app, delete=True, confirmed=looked_at)

        assert (stats.docs_deleted, stats.docs_indexed, names(app)) == (1, 1, {"b.md", "c.md"})
        assert index(app, delete=True).docs_deleted == 0


@pytest.mark.req("L-BYD-14")
def test_a_source_that_cannot_be_listed_is_not_open_to_force(home: Home) -> None:
    home.write("a.md", "Herons fish.\n")
    with home.open() as app:
        index(app)
        home.documents.rename(home.folder / "away")

        assert app.unseen([app.stores.resolve("default")]) == []
