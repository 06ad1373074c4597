"""What a run leaves unread or reads without structure, and what it says about it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from localdb_core.app import LocalDB
from localdb_core.domain.events import IndexStats
from localdb_core.testing.app import MEMORY, make_app


class Home:
    """A folder of documents, and runs over it with a config."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.documents = folder / "documents"
        self.documents.mkdir()

    def index(self, *, max_file_mib: int = 512) -> IndexStats:
        """Run over the folder."""
        with self.open(max_file_mib=max_file_mib) as app:
            return app.index([app.stores.resolve("default")])[0].stats

    def plan(self, *, max_file_mib: int) -> dict[str, tuple[str, str]]:
        """Action and reason by file name."""
        with self.open(max_file_mib=max_file_mib) as app:
            rows = app.plan([app.stores.resolve("default")])
        return {row.uri.rpartition("/")[2]: (str(row.action), row.reason) for row in rows}

    def open(self, *, max_file_mib: int = 512) -> LocalDB:
        indexing: dict[str, Any] = {
            **MEMORY["defaults"]["indexing"],
            "max_file_mib": max_file_mib,
        }
        config = {**MEMORY, "defaults": {"indexing": indexing}}
        app = make_app(self.folder / "home", config=config)
        store = app.stores.resolve("default")
        if not app.sources.list(store):
            app.sources.add(store, str(self.documents))
        return app


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


@pytest.mark.req("L-PAR-17", "L-BYD-36")
def test_a_file_above_the_limit_is_left_unread_until_the_limit_is_raised(
    home: Home, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.documents / "good.md").write_text("Herons fish.\n")
    (home.documents / "large.md").write_text("Herons sleep." + "\n" * 3 * 1024**2)
    read: list[str] = []
    monkeypatch.setattr(
        "localdb_core.pipeline.ingest.hash_file", lambda path: read.append(path.name) or "0" * 64
    )

    planned = home.plan(max_file_mib=2)
    stats = home.index(max_file_mib=2)

    assert planned["large.md"][0] == "skip"
    assert planned["large.md"][1].startswith("it has 3.0 MiB; files above 2 MiB are not read")
    assert (stats.docs_indexed, stats.unsupported_format_count, stats.error_count) == (1, 1, 0)
    assert read == ["good.md"]
    (line,) = [line for line in warnings(caplog) if "large.md" in line]
    assert "it has 3.0 MiB; files above 2 MiB are not read" in line
    assert "defaults.indexing.max_file_mib" in line
    monkeypatch.undo()
    assert home.index(max_file_mib=4).unsupported_format_count == 0


@pytest.mark.req("L-PAR-17")
def test_the_limit_is_no_part_of_the_policy(home: Home) -> None:
    (home.documents / "good.md").write_text("Herons fish.\n")
    home.index(max_file_mib=2)

    assert home.index(max_file_mib=5).docs_skipped == 1


@pytest.mark.req("L-CHK-02")
def test_a_source_with_an_unknown_preset_is_one_error_however_many_files_it_has(
    home: Home,
) -> None:
    for n in range(3):
        (home.documents / f"{n}.md").write_text("Herons fish.\n")
    home.index()
    with home.open() as app:
        with app.catalog.connections.write() as connection:
            connection.execute("UPDATE sources SET preset = 'verse'")
        stats = app.index([app.stores.resolve("default")])[0].stats

    assert (stats.error_count, stats.docs_seen) == (1, 0)


def test_a_text_read_without_structure_says_so_once(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    (home.documents / "deep.md").write_text("> " * 50 + "Herons fish.\n")

    stats = home.index()

    assert stats.docs_indexed == 1
    assert [line.count("nested 40 deep") for line in warnings(caplog)] == [1]
