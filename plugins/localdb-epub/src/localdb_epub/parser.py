"""EPUB books as Markdown, chapter by chapter."""

from __future__ import annotations

import posixpath
import zipfile
from pathlib import Path

from localdb_core.domain import ExtractionFailed, LocaldbError
from localdb_core.plugin import (
    Declined,
    Document,
    ParseResult,
    PluginContext,
    Probe,
    Progress,
)
from localdb_epub.archive import LARGEST_CHAPTER, Archive
from localdb_epub.book import Book, open_book
from localdb_epub.chapter import chapter_markdown
from localdb_epub.metadata import read_metadata

_ZIP = b"PK\x03\x04"
_NAMED = 5  # skipped chapters a warning names


def build(context: PluginContext) -> EpubParser:
    """The parser; it has no settings."""
    return EpubParser()


class EpubParser:
    """Reads the spine of an EPUB."""

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        """Every chapter's text, one after the other, and what the book says about itself."""
        with path.open("rb") as stream:
            if stream.read(len(_ZIP)) != _ZIP:
                return Declined("not a zip file")
        try:
            zipped = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise ExtractionFailed(f"the EPUB's zip file is damaged: {error}") from error
        with zipped:
            archive = Archive(zipped)
            if not _is_book(archive):
                return Declined("a zip file, but not an EPUB")
            archive.refuse_if_protected()
            book = open_book(path, archive)
            parts, skipped = _chapters(book, archive, progress)
        return _document(book, parts, skipped)


def _is_book(archive: Archive) -> bool:
    try:
        return archive.is_book
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise ExtractionFailed(f"the EPUB's zip file is damaged: {error}") from error


def _chapters(book: Book, archive: Archive, progress: Progress) -> tuple[list[str], dict[str, str]]:
    """The chapters' texts, and why some were skipped, by file name."""
    parts: list[str] = []
    skipped: dict[str, str] = {}
    for number, place in enumerate(book.chapters, start=1):
        try:
            parts.append(_chapter(book, archive, place))
        except Exception as error:  # noqa: BLE001 - a damaged chapter may raise anything; skip it
            skipped[posixpath.basename(place)] = _reason(error)
        progress(number, len(book.chapters))
    return [part for part in parts if part], skipped


def _chapter(book: Book, archive: Archive, place: str) -> str:
    if archive.size(place) > LARGEST_CHAPTER:
        raise ExtractionFailed(f"larger than {LARGEST_CHAPTER} bytes")
    return chapter_markdown(archive.read(place), book.titles.get(place))


def _document(book: Book, parts: list[str], skipped: dict[str, str]) -> Document:
    warnings = _warning(skipped)
    if not parts:
        why = (
            warnings[0] if warnings else f"{len(book.chapters)} chapters, only pictures or nothing"
        )
        raise ExtractionFailed(f"the EPUB has no text: {why}")
    return Document(
        markdown="\n\n".join(parts) + "\n",
        metadata=read_metadata(book.package),
        warnings=warnings,
    )


def _warning(skipped: dict[str, str]) -> tuple[str, ...]:
    if not skipped:
        return ()
    shown = [f"{name} ({reason})" for name, reason in list(skipped.items())[:_NAMED]]
    more = f" and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
    noun = "1 chapter" if len(skipped) == 1 else f"{len(skipped)} chapters"
    return (f"could not read {noun}: {', '.join(shown)}{more}",)


def _reason(error: Exception) -> str:
    if isinstance(error, LocaldbError):
        return error.bare
    if isinstance(error, KeyError):
        return "not in the zip file"
    said = " ".join(str(error).split())[:200].rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
