"""Chunkers of plugins take part when the config lists them, and not before."""

from __future__ import annotations

import pytest

from localdb_core.domain import Piece
from localdb_core.domain.errors import InvalidConfig
from localdb_core.plugin import ChunkerSpec, PluginInfo, SourceSpec, hookimpl
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app

NOTE = "# Herons\n\nHerons stand still.\n\nThey wait for fish.\n"


class Lines:
    """One piece a line."""

    built = 0

    def __init__(self, context):
        Lines.built += 1

    def cut(self, blocks, sizing):
        return [
            Piece(block_seq=block.seq, block_kind=block.kind, text=line)
            for block in blocks
            for line in block.text.split("\n\n")
        ]


def plugin():
    made = type(memory_plugin)("by_lines")
    made.PLUGIN = PluginInfo(api="1.0")
    made.__file__ = None

    @hookimpl
    def localdb_chunkers():
        return [ChunkerSpec(name="lines", target=f"{__name__}:Lines", claims=("text",))]

    made.localdb_chunkers = localdb_chunkers
    return made


def indexed(folder, **plugins):
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "a.md").write_text(NOTE)
    modules = [("memory", memory_plugin), ("by-lines", plugin())]
    with make_app(folder / "app", plugins=modules, config={**MEMORY, "plugins": plugins}) as app:
        store = app.stores.resolve("default")
        if not app.sources.list(store):
            app.sources.add(store, str(notes))
        (report,) = app.index([store])
        if report.error is not None:
            raise report.error
        (found, *_), _ = app.documents.page(store, source_id=None, offset=0, limit=1)
        return [chunk.text for chunk in app.documents.chunks(store, found.id)]


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or _this())


def _this():
    made = type(memory_plugin)(__name__)
    made.Lines = Lines
    return made


def test_a_plugins_chunker_is_asked_first_when_the_config_lists_it_and_never_built_before(tmp_path):
    Lines.built = 0

    before = indexed(tmp_path)
    built = Lines.built
    after = indexed(tmp_path, chunkers=["lines"])

    assert built == 0
    assert before == ["Herons stand still.\n\nThey wait for fish."]
    assert after == ["Herons stand still.", "They wait for fish."]
    assert indexed(tmp_path) == before


def test_a_chunker_nobody_has_is_told_by_the_key(tmp_path):
    with pytest.raises(InvalidConfig, match=r"plugins\.chunkers: no chunker is named 'liness'"):
        indexed(tmp_path, chunkers=["liness"])


def test_two_strangers_for_one_kind_of_source_are_an_error_only_when_it_is_used(tmp_path):
    from localdb_core.host.owned import Owned
    from localdb_core.host.registry import Registry
    from localdb_core.host.resolve import source_of_kind

    imap = [
        Owned(name, name, "1.0", SourceSpec(name=name, target="m:S", kind="imap"))
        for name in ("acme", "bolt")
    ]
    ours = Owned("web", "localdb-web", "1.0", SourceSpec(name="w", target="m:S", kind="imap"))

    assert source_of_kind(Registry(sources=tuple(imap[:1])), "imap") is imap[0]
    assert source_of_kind(Registry(sources=(*imap, ours)), "imap") is ours
    with pytest.raises(InvalidConfig, match=r"acme/acme and bolt/bolt both read imap.*\[bolt\]"):
        source_of_kind(Registry(sources=tuple(imap)), "imap")
    with pytest.raises(InvalidConfig, match="no installed plugin reads imap sources"):
        source_of_kind(Registry(), "imap")
