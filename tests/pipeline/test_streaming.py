"""A source of many files passes through an index run; it is never held as a whole."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from localdb_core.domain.block import Block
from localdb_core.domain.events import DocumentFinished, Event
from localdb_core.domain.ids import SourceId, new_ulid
from localdb_core.domain.metadata import Metadata
from localdb_core.domain.store import Source, Store
from localdb_core.pipeline.embed import EmbedJob
from localdb_core.pipeline.prepare import Draft
from localdb_core.plugin import (
    Document,
    Item,
    Listing,
    ParserSpec,
    PluginInfo,
    SourceSpec,
    hookimpl,
)
from localdb_core.storage.resources import PreparedDocument
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import make_app
from localdb_core.testing.memory import FakeEmbedder

FILES = 1_500
BATCH = 100
UNDER_WAY = 400
"""More than what waits between two threads: results, embedding slices, one in each parser."""


class Roll:
    """A source of many items that all lie in one file."""

    def __init__(self, context: Any) -> None:
        del context

    def list(self, source: Any, accepts: Any) -> Listing:
        path = Path(source.root) / "page.roll"
        uris = (f"roll:///{n}" for n in range(FILES))
        return Listing([Item(uri, uri, path, "page.roll") for uri in uris])


class Page:
    """Says the same of every page: this is about how many are held, not about what they say."""

    def __init__(self, context: Any) -> None:
        del context

    def parse(self, path: Path, probe: Any, progress: Any) -> Document:
        return Document(blocks=[Block.text_run("Herons fish.")], metadata=Metadata(language="en"))


@pytest.fixture
def roll() -> Iterator[ModuleType]:
    module = ModuleType("streaming_test_plugin")

    @hookimpl
    def localdb_sources() -> list[SourceSpec]:
        return [SourceSpec(name="roll", target="streaming_test_plugin:Roll", kind="roll")]

    @hookimpl
    def localdb_parsers() -> list[ParserSpec]:
        target = "streaming_test_plugin:Page"
        return [ParserSpec(name="roll", target=target, suffixes=(".roll",), runs="thread")]

    vars(module).update(PLUGIN=PluginInfo(api="1.0"), Roll=Roll, Page=Page, __file__="")
    vars(module).update(localdb_sources=localdb_sources, localdb_parsers=localdb_parsers)
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


@pytest.mark.req("L-ING-01")
def test_what_is_held_at_once_does_not_grow_with_the_number_of_files(
    tmp_path: Path, roll: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ten thousand files and the real batch show the same and take longer.
    monkeypatch.setattr("localdb_core.pipeline.batch.BATCH_CHUNKS", BATCH)
    (tmp_path / "page.roll").write_text("Herons fish by the water.\n")
    held: list[int] = []
    finished = 0

    def look(store: Store, event: Event) -> None:
        nonlocal finished
        finished += isinstance(event, DocumentFinished)
        if isinstance(event, DocumentFinished) and finished % 250 == 0:
            kinds = (Draft, PreparedDocument, EmbedJob)
            held.append(sum(isinstance(each, kinds) for each in gc.get_objects()))

    config = {"index": {"dense": "exact", "sparse": "fts5"}}
    with make_app(tmp_path / "home", plugins=[("roll", roll)], config=config) as app:
        store = app.stores.resolve("default")
        app.catalog.sources.add(Source(SourceId(new_ulid()), store.id, "roll", root=str(tmp_path)))
        (report,) = app.index([store], on_event=look)

    assert report.error is None
    assert report.stats.docs_indexed == FILES
    assert len(held) == FILES // 250
    assert 0 < max(held) <= BATCH + UNDER_WAY


@pytest.mark.req("L-BYD-40")
def test_files_are_parsed_and_embedded_two_at_a_time(
    tmp_path: Path, roll: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsing, embedding = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)
    embed = FakeEmbedder.embed

    def parse(self: Page, path: Path, probe: Any, progress: Any) -> Document:
        parsing.wait()  # breaks, and fails the document, unless another thread comes too
        return Document(markdown=path.read_text())

    def embed_together(self: FakeEmbedder, texts: Sequence[str], role: Any) -> Any:
        embedding.wait()
        return embed(self, texts, role)

    monkeypatch.setattr(Page, "parse", parse)
    monkeypatch.setattr(FakeEmbedder, "embed", embed_together)
    for n in range(2):
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / f"{n}.roll").write_text(f"Heron number {n}.\n")
    plugins = [("memory", memory_plugin), ("roll", roll)]
    with make_app(tmp_path / "home", plugins=plugins) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(tmp_path / "notes"))
        (report,) = app.index([store])

    assert (report.stats.docs_indexed, report.stats.error_count) == (2, 0)
