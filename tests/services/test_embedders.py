"""Which embedder a store is searched and filled with, and what is said when that changes."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from localdb_core.app import LocalDB
from localdb_core.builtin.tools.arguments import SearchArguments
from localdb_core.builtin.tools.search import SearchTool
from localdb_core.domain import InvalidConfig, SearchRequest
from localdb_core.domain.errors import StaleIndex
from localdb_core.plugin import (
    EmbedderContext,
    EmbedderSpec,
    PluginInfo,
    ProviderSettings,
    ToolContext,
    hookimpl,
)
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app
from localdb_core.testing.memory import FakeEmbedder

CONTEXTS: list[EmbedderContext] = []
EMBEDDED: list[str] = []


class Backend(FakeEmbedder):
    """A fake that remembers what it was told, and what it was made to embed."""

    made = "fake:64:1"

    def __init__(self, context: EmbedderContext) -> None:
        CONTEXTS.append(context)
        super().__init__(context, fingerprint=type(self).made)

    def embed(self, texts: Any, role: Any) -> Any:
        EMBEDDED.extend(texts if role == "passage" else ())
        return super().embed(texts, role)


class Rounder(Backend):
    """The same model in another precision."""

    made = "fake:64:rounded"


class Stranger(Backend):
    """Another model under the same name."""

    made = "stranger:64:1"


@pytest.fixture(autouse=True)
def forget() -> None:
    CONTEXTS.clear()
    EMBEDDED.clear()


@pytest.fixture
def backends(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A plugin ``tested`` with three embedders; the first two are of one group."""
    module = ModuleType("embedder_test_plugin")
    specs = [
        EmbedderSpec(name="plain", target="embedder_test_plugin:Backend", group="tiny"),
        EmbedderSpec(name="rounder", target="embedder_test_plugin:Rounder", group="tiny"),
        EmbedderSpec(name="stranger", target="embedder_test_plugin:Stranger"),
        EmbedderSpec(name="hosted", target="embedder_test_plugin:Backend"),
    ]

    def localdb_embedders() -> list[EmbedderSpec]:
        return specs

    vars(module).update(
        PLUGIN=PluginInfo(api="1.0"),
        __file__=None,
        Backend=Backend,
        Rounder=Rounder,
        Stranger=Stranger,
        localdb_embedders=hookimpl(localdb_embedders),
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def opened(
    folder: Path,
    provider: str,
    *,
    plugin: ModuleType | None = None,
    parsers: list[str] | None = None,
    providers: list[dict[str, str]] | None = None,
) -> LocalDB:
    """The application of this folder with another embedder in its config."""
    indexing: dict[str, Any] = {"embedding": {"provider": provider, "model": "fake"}}
    if parsers is not None:
        indexing["parsers"] = parsers
    config = {**MEMORY, "defaults": {"indexing": indexing}, "providers": providers or []}
    plugins = [("memory", memory_plugin), *([("tested", plugin)] if plugin else [])]
    app = make_app(folder / "home", config=config, plugins=plugins)
    store = app.stores.resolve("default")
    if not app.sources.list(store):
        notes = folder / "notes"
        notes.mkdir()
        (notes / "a.md").write_text("# Herons\n\nHerons stand still.\n")
        app.sources.add(store, str(notes))
    return app


def index(app: LocalDB) -> Any:
    (report,) = app.index([app.stores.resolve("default")])
    return report


def notices(app: LocalDB) -> tuple[str, ...]:
    return app.search.search(SearchRequest("herons")).notices


def status(app: LocalDB) -> tuple[str, ...]:
    told = app.status(app.stores.list()).notices
    return tuple(notice for notice in told if notice.startswith("store "))


# --- Backends of one model ---


@pytest.mark.req("L-EMB-03")
@pytest.mark.parametrize("other", ["rounder", "tested/rounder"])
def test_another_backend_of_the_group_goes_on_where_the_first_one_stopped(
    tmp_path: Path, backends: ModuleType, other: str
) -> None:
    with opened(tmp_path, "plain", plugin=backends) as app:
        assert index(app).error is None
    EMBEDDED.clear()
    (tmp_path / "notes" / "b.md").write_text("# Storks\n\nStorks fly.\n")

    with opened(tmp_path, other, plugin=backends) as app:
        report = index(app)
        result = app.search.search(SearchRequest("herons storks"))
        (stored,) = {app.catalog.stores.embedder(store.id) for store in app.stores.list()}

    assert report.error is None
    assert [text.rpartition("\n")[2] for text in EMBEDDED] == ["Storks fly."]
    assert stored is not None
    assert (stored.provider, stored.fingerprint) == ("plain", "fake:64:1")
    assert [hit.score.dense is not None for hit in result.citations] == [True, True]
    assert result.notices == ()


@pytest.mark.req("L-EMB-03")
@pytest.mark.req("L-EMB-30")
def test_a_backend_of_no_group_with_other_vectors_is_refused(
    tmp_path: Path, backends: ModuleType
) -> None:
    with opened(tmp_path, "plain", plugin=backends) as app:
        index(app)

    with opened(tmp_path, "stranger", plugin=backends) as app:
        assert isinstance(index(app).error, StaleIndex)


@pytest.mark.req("L-EMB-03")
def test_equal_fingerprints_are_enough_when_the_first_backend_is_gone(
    tmp_path: Path, backends: ModuleType
) -> None:
    with opened(tmp_path, "plain", plugin=backends) as app:
        index(app)

    with opened(tmp_path, "fake") as app:
        before = app.search.search(SearchRequest("herons"))
        report = index(app)
        after = app.search.search(SearchRequest("herons"))

    assert before.citations[0].score.dense == after.citations[0].score.dense
    assert before.citations[0].score.dense is not None
    assert report.error is None


def test_other_vectors_do_not_stand_in_for_those_of_a_backend_that_is_gone(
    tmp_path: Path, backends: ModuleType
) -> None:
    with opened(tmp_path, "stranger", plugin=backends) as app:
        index(app)

    with opened(tmp_path, "fake") as app:
        result = app.search.search(SearchRequest("herons"))

    assert result.citations[0].score.dense is None
    assert any("by words only" in n and "'stranger'" in n for n in result.notices)


# --- Entries of providers[] ---

TWO = [
    {"name": "other", "kind": "elsewhere", "base_url": "https://a.example"},
    {"name": "first", "kind": "hosted", "base_url": "https://b.example"},
    {"name": "second", "kind": "hosted", "base_url": "https://c.example"},
]


@pytest.mark.req("L-EMB-05")
@pytest.mark.parametrize(
    ("provider", "entry"),
    [
        ("hosted", ProviderSettings("first", "hosted", "https://b.example")),
        ("tested/hosted", ProviderSettings("first", "hosted", "https://b.example")),
        ("first", ProviderSettings("first", "hosted", "https://b.example")),
        ("second", ProviderSettings("second", "hosted", "https://c.example")),
        ("plain", None),
    ],
)
def test_the_entry_is_found_by_its_name_then_by_its_kind(
    tmp_path: Path, backends: ModuleType, provider: str, entry: ProviderSettings | None
) -> None:
    with opened(tmp_path, provider, plugin=backends, providers=TWO) as app:
        assert index(app).error is None
        assert app.search.search(SearchRequest("herons")).citations[0].score.dense is not None

    (context,) = CONTEXTS
    assert (context.provider, context.model) == (entry, "fake")


@pytest.mark.req("L-EMB-04")
def test_an_entry_of_a_kind_that_nobody_has_lists_the_known_ones(
    tmp_path: Path, backends: ModuleType
) -> None:
    with opened(tmp_path, "other", plugin=backends, providers=TWO) as app:
        error = index(app).error

    assert isinstance(error, InvalidConfig)
    assert "no embedder is named 'elsewhere'; known: fake, hosted, plain" in str(error)


# --- Told when it is stale ---


@pytest.mark.req("L-EMB-41")
def test_another_embedder_in_the_config_is_told_by_status_and_by_search(
    tmp_path: Path, backends: ModuleType
) -> None:
    with opened(tmp_path, "fake") as app:
        index(app)
        assert (notices(app), status(app)) == ((), ())

    with opened(tmp_path, "stranger", plugin=backends) as app:
        said = (
            "store 'default' was embedded with fake fake, the config says stranger fake; "
            "set it back, or index into a new store: localdb store add NAME"
        )
        assert notices(app) == (said,)
        assert status(app) == (said,)
        assert CONTEXTS == []  # no model is loaded to find out


@pytest.mark.req("L-EMB-41")
def test_another_policy_is_told_until_the_next_run(tmp_path: Path) -> None:
    with opened(tmp_path, "fake") as app:
        assert notices(app) == ()
        index(app)

    with opened(tmp_path, "fake", parsers=["markdown"]) as app:
        said = (
            "store 'default' was indexed with other settings than the config's; "
            "bring it up to date with: localdb index"
        )
        assert notices(app) == status(app) == (said,)
        index(app)
        assert notices(app) == status(app) == ()


@pytest.mark.req("L-EMB-41")
def test_a_tool_logs_what_stays_true_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path, "fake") as app:
        index(app)

    with opened(tmp_path, "fake", parsers=["markdown"]) as app:
        tool = SearchTool(ToolContext("core", app=app.services()))
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                tool.run(SearchArguments(query="herons"))

    assert [r.message for r in caplog.records].count(
        "store 'default' was indexed with other settings than the config's; "
        "bring it up to date with: localdb index"
    ) == 1


# --- Not needed, not loaded ---


@pytest.mark.req("L-EMB-24")
def test_no_embedder_is_built_before_something_needs_one(
    tmp_path: Path, backends: ModuleType
) -> None:
    with opened(tmp_path, "plain", plugin=backends) as app:
        source = app.sources.list(app.stores.resolve("default"))[0]
        text = Path(source.root or "", "a.md").rename(tmp_path / "a.md")
        empty = index(app)
        app.status(app.stores.list())
        app.plan(app.stores.list())
        app.search.search(SearchRequest("herons"))
        assert (CONTEXTS, empty.stats.docs_indexed) == ([], 0)

        text.rename(Path(source.root or "", "a.md"))
        app.plan(app.stores.list())
        assert CONTEXTS == []
        index(app)
        assert len(CONTEXTS) == 1
