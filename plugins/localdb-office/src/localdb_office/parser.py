"""The Office parser: one target for all kinds, told apart by content, then by name."""

from __future__ import annotations

from pathlib import Path

from localdb_core.domain import ExtractionFailed, LocaldbError, Metadata, UnsupportedFormat
from localdb_core.plugin import Declined, Document, ParseResult, PluginContext, Probe, Progress
from localdb_office.config import OfficeConfig

_OOXML = "application/vnd.openxmlformats-officedocument."
_FORMATS = {
    "docx": _OOXML + "wordprocessingml.document",
    "pptx": _OOXML + "presentationml.presentation",
    "xlsx": _OOXML + "spreadsheetml.sheet",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
}
_FOLDERS = {"word": "docx", "ppt": "pptx", "xl": "xlsx"}
_ZIP = b"PK"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OTHER_FORMATS = (b"%PDF-", b"{\\rtf", b"<html", b"<HTML", b"<!DOCTYPE", b"<!doctype", b"\x89PNG")
_TEXT_SUFFIXES = (".csv", ".tsv")
_TEXT_TYPES = (_FORMATS["csv"], _FORMATS["tsv"])


class OfficeParser:
    """Turns Word, PowerPoint, Excel and CSV files into Markdown.

    OfficeParser(context).parse(path, probe, no_progress)
    """

    def __init__(self, context: PluginContext) -> None:
        config = context.config
        self._config = config if isinstance(config, OfficeConfig) else OfficeConfig()

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        """The document in ``path``; errors name ``office/`` and the extension."""
        try:
            return self._parse(path, probe, progress)
        except LocaldbError as error:
            raise error.within(f"office/{_extension(probe)}") from error.__cause__

    def _parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        if probe.starts_with(*_OTHER_FORMATS):
            return Declined("the first bytes are those of another format")
        if probe.head.startswith(_OLE):
            raise UnsupportedFormat(
                "the file is password-protected or of a format before 2007; "
                "save it without password as docx, pptx or xlsx"
            )
        if probe.head.startswith(_ZIP):
            return self._package(path, progress)
        if _is_text(probe):
            return self._text(path, probe, progress)
        raise ExtractionFailed("the file is not a zip archive, as every Office file is")

    def _text(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        from localdb_office.delimited import read_csv

        result = read_csv(
            path, progress, max_rows=self._config.max_rows, suffix=probe.suffix or ".csv"
        )
        if result is None:
            return Declined("no text encoding fits")
        markdown, warnings = result
        kind = "tsv" if probe.suffix == ".tsv" else "csv"
        return Document(
            markdown=markdown, metadata=Metadata(format=_FORMATS[kind]), warnings=tuple(warnings)
        )

    def _package(self, path: Path, progress: Progress) -> ParseResult:
        from localdb_office.package import open_package  # lxml: 60 ms
        from localdb_office.properties import read_properties

        with open_package(path) as package:
            kind = next((k for f, k in _FOLDERS.items() if package.has_folder(f)), None)
            if kind is None:
                return Declined("a zip archive, but not an Office file")
            metadata = read_properties(package, media_type=_FORMATS[kind])
            if kind == "docx":
                from localdb_office.docx import read_docx

                markdown, title = read_docx(package, progress)
                metadata = metadata.with_(title=metadata.title or title)
                return Document(markdown=markdown, metadata=metadata)
            if kind == "pptx":
                from localdb_office.pptx import read_pptx

                slides, title = read_pptx(package, progress)
                metadata = metadata.with_(
                    title=metadata.title or title, extra={"page_count": len(slides)}
                )
                markdown, starts = _joined(slides)
                return Document(markdown=markdown, metadata=metadata, page_starts=starts)
        from localdb_office.xlsx import read_xlsx

        markdown, warnings = read_xlsx(path, progress, max_rows=self._config.max_rows)
        return Document(markdown=markdown, metadata=metadata, warnings=tuple(warnings))


def _joined(slides: list[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Slides in one text, and where each begins; empty ones have no place in it."""
    starts: list[tuple[int, int]] = []
    parts: list[str] = []
    offset = 0
    for number, slide in enumerate(slides, 1):
        if slide:
            starts.append((offset, number))
            parts.append(slide)
            offset += len(slide.encode()) + 2
    return "\n\n".join(parts), tuple(starts)


def _extension(probe: Probe) -> str:
    return probe.suffix.lstrip(".") or "file"


def _is_text(probe: Probe) -> bool:
    media_type = (probe.media_type or "").partition(";")[0].strip().lower()
    return probe.suffix in _TEXT_SUFFIXES or (not probe.suffix and media_type in _TEXT_TYPES)
