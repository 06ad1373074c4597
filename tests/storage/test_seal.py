"""Damage that leaves every file its size is noticed before the index answers (E-2)."""

import os
import random
import shutil

import localdb_chroma.index
import localdb_chroma.plugin
import localdb_whoosh.plugin
import pytest

from localdb_core.domain.query import SearchMode, SearchRequest
from localdb_core.storage.seal import holds, look, seal
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app

PLUGINS = (
    ("memory", memory_plugin),
    ("chroma", localdb_chroma.plugin),
    ("whoosh", localdb_whoosh.plugin),
)
WORDS = ["heron", "pond", "lease", "seed", "tomato", "ladder", "winter", "reading", "evening"]
DAMAGE = {
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: random.Random(7).randbytes(len(content)),
    "a few bytes": lambda content: (
        content[: len(content) // 2]
        + bytes(byte ^ 255 for byte in content[len(content) // 2 :][:24])
        + content[len(content) // 2 + 24 :]
    ),
}


@pytest.fixture(scope="module", autouse=True)
def graphs_are_saved():
    """Chroma's graph is a file only when it has been saved, else after 2,000 entries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(localdb_chroma.index, "_SAVE_CHANGES", 1)
        yield


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A folder with an application's data; copy it before you spoil it."""
    folder = tmp_path_factory.mktemp("library")
    notes = folder / "notes"
    notes.mkdir()
    picks = random.Random(5)
    for n in range(24):
        (notes / f"{n}.md").write_text(" ".join(picks.choices(WORDS, k=12)) + f" {n}\n")
    with app_in(folder / "home") as app:
        (store,) = app.stores.list()
        app.sources.add(store, str(notes))
        assert app.index([store])[0].error is None
    return folder / "home"


def app_in(home):
    return make_app(
        home, plugins=PLUGINS, config={**MEMORY, "index": {"dense": "chroma", "sparse": "whoosh"}}
    )


def answers(app, mode):
    result = app.search.search(SearchRequest("heron lease winter", limit=10, mode=mode))
    hits = [(hit.chunk.id, round(hit.score.fused, 6)) for hit in result.citations]
    return hits, result.notices, [leg.engine for leg in result.explanation.legs]


def files(home):
    return sorted(path for path in (home / "data" / "index").rglob("*") if path.is_file())


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize(
    ("engine", "mode"), [("chroma", SearchMode.DENSE), ("whoosh", SearchMode.KEYWORD)]
)
def test_same_sized_damage_to_any_file_is_said_and_mended_and_the_answer_is_right(
    library, tmp_path, engine, mode, kind
):
    with app_in(library) as app:
        right, quiet, _ = answers(app, mode)
    assert (len(right), quiet) == (10, ())

    spoilt = 0
    for number, original in enumerate(each for each in files(library) if engine in each.parts):
        damage = DAMAGE[kind](original.read_bytes())
        if damage == original.read_bytes():  # an empty file
            continue
        home = tmp_path / str(number)
        shutil.copytree(library, home)
        (home / original.relative_to(library)).write_bytes(damage)
        with app_in(home) as app:
            hits, notices, engines = answers(app, mode)
            assert (hits, engines) == (right, [engine]), original
            assert any("changed on disk" in said and "rebuilt" in said for said in notices), notices
            assert answers(app, mode) == (right, (), [engine])
        spoilt += 1
    assert spoilt >= 2


def test_damage_while_an_index_is_open_is_noticed_at_the_next_question(library, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(library, home)
    with app_in(home) as app:
        right, _, _ = answers(app, SearchMode.DENSE)
        (graph,) = [path for path in files(home) if path.name == "data_level0.bin"]
        graph.write_bytes(bytes(graph.stat().st_size))

        hits, notices, _ = answers(app, SearchMode.DENSE)

    assert hits == right
    assert any("rebuilt" in said for said in notices)


def test_a_copied_library_is_not_built_again(library, tmp_path):
    shutil.copytree(library, tmp_path / "home", copy_function=shutil.copyfile)  # no times

    with app_in(tmp_path / "home") as app:
        assert answers(app, SearchMode.HYBRID)[1] == ()


def test_a_seal_holds_for_what_was_sealed_and_nothing_else(tmp_path):
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("two")
    sealed = seal(tmp_path)
    assert holds(tmp_path, sealed)
    assert not holds(tmp_path, "")
    assert not holds(tmp_path, "no seal")

    os.utime(tmp_path / "a", ns=(1, 1))
    assert holds(tmp_path, sealed)
    (tmp_path / "a").write_text("eno")
    assert not holds(tmp_path, sealed)
    assert holds(tmp_path, seal(tmp_path, before=sealed))
    (tmp_path / "c").touch()
    assert not holds(tmp_path, sealed)
    assert sorted(look(tmp_path)) == ["a", "b", "c"]


def test_only_files_that_look_changed_are_read_again(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("two")
    sealed = seal(tmp_path)
    (tmp_path / "b").write_text("three")
    read = []
    digest = seal.__globals__["_digest"]
    monkeypatch.setitem(
        seal.__globals__, "_digest", lambda path: (read.append(path.name), digest(path))[1]
    )

    again = seal(tmp_path, before=sealed)

    assert read == ["b"]
    assert holds(tmp_path, again)
    assert read == ["b"]
