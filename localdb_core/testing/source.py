"""What every source owes the pipeline, as tests to inherit.

class TestMySource(SourceContract):
    component = "mine/mine"
    expected = ("first.txt", "second.txt")

    @classmethod
    def fill(cls, folder: Path) -> Source:
        for name in cls.expected:
            (folder / name).write_text(name)
        return source_row("mine", root=str(folder))

    @classmethod
    def unavailable(cls, folder: Path) -> Source:
        return source_row("mine", root=str(folder / "missing"))

The plugin must be installed. Override :meth:`SourceContract.spec` and
:meth:`SourceContract.build` to test a source that is not.
"""

# ruff: noqa: D102 (the names of tests are sentences)

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from localdb_core.domain import Source
from localdb_core.domain.ids import SourceId, StoreId
from localdb_core.plugin import Accepts, Listing, PluginContext, SourceKind, SourceSpec
from localdb_core.testing.component import attribute_of, find_spec, settings_of

ACCEPTS: Final = Accepts(suffixes=frozenset({".md", ".txt"}))
"""What the parsers of the contract's imaginary installation read."""

_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def source_row(kind: str, **fields: Any) -> Source:  # Any: fields of Source
    """A row of the catalog, as ``localdb source add`` would write it."""
    return Source(SourceId("contract-source"), StoreId("contract-store"), kind, **fields)


class SourceContract:
    """Inherit, name the component, say what it should find.

    Attributes:
        component: ``plugin/name``.
        settings: the plugin's config section; its model is built from this.
        expected: names of the items that :meth:`fill` makes.
    """

    component: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]] = {}  # Any: config values
    expected: ClassVar[Sequence[str]] = ()

    @classmethod
    def fill(cls, folder: Path) -> Source:
        """Put items where the source finds them; the row that lists them.

        Suffixes other than ``.md`` and ``.txt`` may be left out by the source.
        """
        # not abstract: localdb_core.testing.component says why
        raise NotImplementedError("write fill(): make items and return the row that lists them")

    @classmethod
    def unavailable(cls, folder: Path) -> Source:
        """A row whose items cannot be looked at: a folder or a server that is not there."""
        # not abstract: localdb_core.testing.component says why
        raise NotImplementedError("write unavailable(): return a row that cannot be listed now")

    @classmethod
    def spec(cls) -> SourceSpec:
        """The description under test; looked up by entry point unless overridden."""
        return find_spec(cls.component, SourceSpec)

    @classmethod
    def build(cls, folder: Path) -> SourceKind:
        """A new source that keeps its files in ``folder``, as the host would build it."""
        context = PluginContext(
            plugin=cls.component.partition("/")[0],
            config=settings_of(cls.component, cls.settings),
            data_dir=folder / "data",
            cache_dir=folder / "cache",
        )
        source: SourceKind = attribute_of(cls.spec().target)(context)
        return source

    @pytest.fixture(scope="class")
    @classmethod
    def place(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """A folder of the class: ``items`` for what is listed, the rest for the source."""
        place = tmp_path_factory.mktemp("source")
        (place / "items").mkdir()
        return place

    @pytest.fixture(scope="class")
    @classmethod
    def row(cls, place: Path) -> Source:
        """The row that lists the items."""
        return cls.fill(place / "items")

    @pytest.fixture(scope="class")
    @classmethod
    def listing(cls, place: Path, row: Source) -> Listing:
        """What the source finds."""
        return cls.build(place).list(row, ACCEPTS)

    def test_it_finds_what_is_there(self, listing: Listing) -> None:
        assert self.expected, "give expected names, or nothing is shown"
        assert sorted(item.name for item in listing.items) == sorted(self.expected)
        assert listing.complete, listing.reason
        assert not listing.problems

    def test_the_kind_of_the_row_is_the_one_described(self, row: Source) -> None:
        assert row.kind == self.spec().kind

    def test_items_have_their_own_uris_and_are_sorted_by_them(self, listing: Listing) -> None:
        uris = [item.uri for item in listing.items]

        assert all(uri.isprintable() and " " not in uri for uri in uris)
        assert uris == sorted(set(uris))
        assert len({item.locator for item in listing.items}) == len(uris)

    def test_every_item_can_be_read(self, listing: Listing) -> None:
        for item in listing.items:
            content = item.path.read_bytes()

            assert item.size in (None, len(content))

    def test_times_are_in_utc_and_whole_seconds(self, listing: Listing) -> None:
        given = [item.added_at for item in listing.items if item.added_at]

        assert all(_UTC.fullmatch(time) for time in given), given

    def test_the_same_row_gives_the_same_listing(
        self, place: Path, row: Source, listing: Listing
    ) -> None:
        """URIs are what documents are known by: one that changes makes a new document."""
        source = self.build(place)

        for again in (source.list(row, ACCEPTS), source.list(row, ACCEPTS)):
            assert [(item.uri, item.locator) for item in again.items] == [
                (item.uri, item.locator) for item in listing.items
            ]

    def test_what_cannot_be_looked_at_is_never_called_complete(self, tmp_path: Path) -> None:
        """Absence is not proof: a complete listing lets documents be deleted (L-INV-05)."""
        found = self.build(tmp_path).list(self.unavailable(tmp_path / "items"), ACCEPTS)

        assert not found.complete
        assert found.reason
        assert found.items == []

    def test_listing_prints_nothing(
        self, place: Path, row: Source, capfd: pytest.CaptureFixture[str]
    ) -> None:
        self.build(place).list(row, ACCEPTS)

        assert capfd.readouterr().out == ""
