"""Ids of indexed documents: what they depend on, and what they never depend on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.domain import clock
from localdb_core.domain.uri import file_uri
from localdb_core.testing.app import make_app

NAMES = ["a.md", "b.txt", "deep/c.md", "é ü.md", "tool.py"]
TEXT = st.sampled_from(
    [
        "# Herons\n\nHerons fish.\n\nThey stand still.",
        "Storks stand still.\n\n```python\nstand()\n```\n",
        "| bird | water |\n| --- | --- |\n| heron | lake |\n",
        "кулик и 漢字",
    ]
)
FILES = st.dictionaries(st.sampled_from(NAMES), TEXT, min_size=1)
Ids = dict[str, tuple[str, tuple[str, ...]]]
RUNS = max(3, settings.default.max_examples // 8)


class Past(datetime):
    """A clock that stands still, long ago."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Past:
        return cls(1999, 12, 31, 23, 59, 59, tzinfo=tz)


def ids_of(home: Path, documents: Path, files: Sequence[tuple[str, str]], mtime: int) -> Ids:
    """Resource and chunk ids by file, indexed in a new home."""
    for name, text in files:
        path = documents / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (mtime, mtime))
    try:
        with make_app(home) as app:
            store = app.stores.resolve("default")
            app.sources.add(store, str(documents))
            app.index([store])
            rows, _ = app.documents.page(store, source_id=None, offset=0, limit=99)
            return {
                row.uri: (
                    row.id,
                    tuple(chunk.id for chunk in app.documents.chunks(store, row.id)),
                )
                for row in rows
            }
    finally:
        shutil.rmtree(home)
        shutil.rmtree(documents, ignore_errors=True)


@pytest.mark.req("L-INV-03", "L-DOM-14")
@settings(max_examples=RUNS)
@given(data=st.data(), files=FILES)
def test_ids_are_the_same_on_another_machine_at_another_time(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, files: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("ids")
    documents = folder / "documents"
    order = data.draw(st.permutations(list(files.items())))
    old, new = data.draw(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)))

    first = ids_of(folder / "home", documents, list(files.items()), old)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "datetime", Past)
        patch.setattr("localdb_core.domain.ids.time.time", lambda: 946_684_799.0)
        second = ids_of(folder / "elsewhere" / "deep", documents, order, new)

    assert first == second
    assert all(chunks for _, chunks in first.values())


@pytest.mark.req("L-INV-03")
@settings(max_examples=RUNS)
@given(files=FILES, name=st.sampled_from(NAMES))
def test_only_the_ids_of_what_was_edited_or_moved_change(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str], name: str
) -> None:
    folder = tmp_path_factory.mktemp("ids")
    documents = folder / "documents"
    edited = {each: text + "\n\nMore." * (each == name) for each, text in files.items()}
    moved = {("moved-" * (each == name)) + each: text for each, text in files.items()}

    first = ids_of(folder / "home", documents, list(files.items()), 1)
    after_edit = ids_of(folder / "home", documents, list(edited.items()), 1)
    after_move = ids_of(folder / "home", documents, list(moved.items()), 1)

    changed = {uri for uri in first if first[uri] != after_edit[uri]}
    gone = set(first) - set(after_move)
    expected = {file_uri(documents / name)} & set(first)
    assert changed == gone == expected
    for uri in expected:
        (new,) = set(after_move) - set(first)
        assert not {first[uri][0], *first[uri][1]} & {after_move[new][0], *after_move[new][1]}
        assert first[uri][0] != after_edit[uri][0]
    assert all(first[uri] == after_move[uri] for uri in set(first) - gone)
