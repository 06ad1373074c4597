"""The package document, read by EbookLib; chapter texts are read later, one by one."""

from __future__ import annotations

import posixpath
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localdb_core.domain import ExtractionFailed, LocaldbError
from localdb_epub.archive import Archive, parse_xml
from localdb_epub.contents import Title, read_titles

with warnings.catch_warnings():
    # EbookLib's own imports of old names; nothing a person could act on.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", category=FutureWarning)
    from ebooklib import epub  # type: ignore[import-untyped]

_CONTAINER_NS = "{urn:oasis:names:tc:opendocument:xmlns:container}"


@dataclass(frozen=True, slots=True)
class Book:
    """What the package document says; names are places in the archive."""

    chapters: tuple[str, ...]
    titles: dict[str, Title]
    package: Any  # Any: EbookLib has no types


def open_book(path: Path, archive: Archive) -> Book:
    """Read the package document.

    Raises:
        ExtractionFailed: it is missing or makes no sense.
    """
    reader = _PackageReader(str(path), archive)
    try:
        package = reader.load()
    except LocaldbError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise ExtractionFailed(f"the EPUB's package cannot be read: {said}") from error
    finally:
        if reader.zf is not None:
            reader.zf.close()
    items = {item.get_id(): item for item in package.get_items()}
    spine = dict.fromkeys(idref for idref, _ in package.spine if idref in items)
    return Book(
        chapters=tuple(reader.place(items[idref]) for idref in spine),
        titles=_titles(reader, package, archive),
        package=package,
    )


def _titles(reader: _PackageReader, package: Any, archive: Archive) -> dict[str, Title]:
    for kind in (epub.EpubNav, epub.EpubNcx):
        for item in package.get_items():
            place = reader.place(item)
            if isinstance(item, kind) and place in archive:
                titles = read_titles(archive.read(place), place)
                if titles:
                    return titles
    return {}


class _PackageReader(epub.EpubReader):  # type: ignore[misc]  # EbookLib has no types
    """EbookLib's reader, kept from reading more than the container and the package.

    As it comes, it unpacks every file of the book at once and gives up the whole book
    for one missing picture or an odd table of contents.
    """

    opf_file: str
    opf_dir: str

    def __init__(self, path: str, archive: Archive) -> None:
        super().__init__(path, {"ignore_ncx": True})
        self._archive = archive

    def place(self, item: Any) -> str:  # Any: an EbookLib item
        """Where an item lies in the archive."""
        return posixpath.normpath(posixpath.join(self.opf_dir, item.get_name() or ""))

    def read_file(self, name: str) -> bytes:
        """The container or the package; for everything else nothing."""
        if name.startswith("META-INF/") or name == self.opf_file:
            return self._archive.read(name)
        return b""

    def _load_container(self) -> None:
        super()._load_container()
        root = parse_xml(self.read_file("META-INF/container.xml"))
        first = None if root is None else root.find(f".//{_CONTAINER_NS}rootfile[@full-path]")
        if first is not None:  # EbookLib takes the last rendition; the first is the default
            self.opf_file = first.get("full-path") or self.opf_file
            self.opf_dir = posixpath.dirname(self.opf_file)

    def _parse_nav(self, data: bytes, base_path: str, navtype: str = "toc") -> None:
        """Nothing: see contents.py."""

    def _parse_ncx(self, data: bytes) -> None:
        """Nothing: see contents.py."""
