"""PDF files as Markdown, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError

from localdb_core.domain import ExtractionFailed, LocaldbError, UnsupportedFormat
from localdb_core.plugin import (
    Declined,
    Document,
    ParseResult,
    PluginContext,
    Probe,
    Progress,
)
from localdb_pdf.headings import bookmarks_by_page
from localdb_pdf.metadata import read_metadata
from localdb_pdf.pages import has_picture, page_markdown, page_text
from localdb_pdf.quiet import quiet

MAGIC = b"%PDF-"
MAGIC_WITHIN = 1024  # readers accept so much rubbish before the header
FEWEST_LETTERS = 20
LEAST_SHARE_OF_LETTERS = 0.10

# An end that points nowhere makes pypdf look for the objects themselves.
_LOST_END = b"\nstartxref\n0\n%%EOF\n"


def build(context: PluginContext) -> PdfParser:
    """The parser; it has no settings."""
    return PdfParser()


class PdfParser:
    """Reads the text layer of a PDF; does not look at pictures."""

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        """Every page's text, one after the other, and what the file says about itself."""
        with path.open("rb") as stream:
            if MAGIC not in stream.read(MAGIC_WITHIN):
                return Declined(f"no {MAGIC.decode()} in the first {MAGIC_WITHIN} bytes")
        with quiet():
            reader = _open(path)
            total = _page_count(reader)
            text = _read_pages(reader, total, progress)
            text.check(total)
            return Document(
                markdown=text.markdown(),
                metadata=read_metadata(reader, page_count=total),
                page_starts=tuple(text.starts),
                warnings=text.warnings(),
            )


@dataclass
class _Text:
    """Pages collected so far; ``size`` counts the UTF-8 bytes of the joined Markdown."""

    parts: list[str] = field(default_factory=list)
    starts: list[tuple[int, int]] = field(default_factory=list)
    size: int = 0
    letters: int = 0
    solid: int = 0
    pictures: bool = False
    empty: list[int] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)

    def add(self, number: int, plain: str, markdown: str) -> None:
        """Append a page."""
        if not markdown:
            self.empty.append(number)
            return
        if self.parts:
            self.size += len(b"\n\n")
        self.starts.append((self.size, number))
        self.parts.append(markdown)
        self.size += len(markdown.encode())
        self.letters += sum(map(str.isalnum, plain))
        self.solid += len("".join(plain.split()).encode())

    def markdown(self) -> str:
        """The pages, a blank line between them, and a final newline."""
        return "\n\n".join(self.parts) + "\n"

    def check(self, total: int) -> None:
        """Refuse what has no text. Raises ExtractionFailed or UnsupportedFormat."""
        if len(self.failed) == total:
            reason = next(iter(self.failed.values()), "the file has no pages")
            raise ExtractionFailed(f"no page of the PDF could be read: {reason}")
        unread = f"; {_pages(list(self.failed))} could not be read" if self.failed else ""
        # A scan is a picture with next to no text; without a picture, few words are all there is.
        if self.letters < (FEWEST_LETTERS if self.pictures else 1):
            raise UnsupportedFormat(
                f"the PDF has no text layer ({self.letters} letters and digits on"
                f" {_count(total)}{unread}); run OCR over it first"
            )
        if self.letters < self.solid * LEAST_SHARE_OF_LETTERS:
            raise UnsupportedFormat(
                f"the PDF's text layer is no text ({self.letters} letters and digits in"
                f" {self.solid} bytes{unread}); run OCR over it first"
            )

    def warnings(self) -> tuple[str, ...]:
        """One line for all pages without text, one for all that failed."""
        found = []
        if self.empty:
            found.append(f"left out {_count(len(self.empty))} without text: {_ranges(self.empty)}")
        if self.failed:
            reason = next(iter(self.failed.values()))
            found.append(f"could not read {_pages(list(self.failed))}: {reason}")
        return tuple(found)


def _open(path: Path) -> PdfReader:
    try:
        reader = _read(path)
        locked = reader.is_encrypted and not reader.decrypt("")
    except DependencyError as error:
        raise UnsupportedFormat(f"the PDF's encryption is not supported here: {error}") from error
    except Exception as error:
        raise ExtractionFailed(f"the PDF is damaged: {_reason(error)}") from error
    if locked:
        raise UnsupportedFormat("the PDF needs a password; save a copy without one")
    return reader


def _read(path: Path) -> PdfReader:
    try:
        return PdfReader(path)
    except DependencyError:
        raise
    except Exception:  # noqa: BLE001 - whatever it is, a second reading may get around it
        return PdfReader(BytesIO(path.read_bytes() + _LOST_END))


def _page_count(reader: PdfReader) -> int:
    try:
        return len(reader.pages)
    except Exception as error:
        raise ExtractionFailed(f"the PDF's pages cannot be found: {_reason(error)}") from error


def _read_pages(reader: PdfReader, total: int, progress: Progress) -> _Text:
    text = _Text()
    bookmarks = bookmarks_by_page(reader)
    for index in range(total):
        try:
            page = reader.pages[index]
            plain = page_text(page)
            text.pictures = text.pictures or has_picture(page)
            markdown = page_markdown(plain, bookmarks.get(index, ()))
        except Exception as error:  # noqa: BLE001 - a damaged page may raise anything; skip it
            text.failed[index + 1] = _reason(error)
        else:
            text.add(index + 1, plain, markdown)
        progress(index + 1, total)
    return text


def _reason(error: Exception) -> str:
    if isinstance(error, LocaldbError):
        return error.bare
    said = " ".join(str(error).split())[:200].rstrip(".")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _count(pages: int) -> str:
    return "1 page" if pages == 1 else f"{pages} pages"


def _pages(numbers: Sequence[int]) -> str:
    return f"{'page' if len(numbers) == 1 else 'pages'} {_ranges(numbers)}"


def _ranges(numbers: Sequence[int]) -> str:
    """``3, 7-9`` for rising numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)
