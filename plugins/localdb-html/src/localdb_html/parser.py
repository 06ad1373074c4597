"""The HTML parser."""

from __future__ import annotations

from pathlib import Path

from localdb_core.domain import ExtractionFailed
from localdb_core.plugin import Declined, Document, ParseResult, PluginContext, Probe, Progress
from localdb_html.content import main_content
from localdb_html.decode import decode
from localdb_html.markdown import to_markdown
from localdb_html.metadata import read_metadata
from localdb_html.tree import DEEPEST, depth, parse, prune

_SUFFIXES = (".html", ".htm", ".xhtml")
_MEDIA_TYPES = ("text/html", "application/xhtml+xml")
_ROOTS = ("<!doctype html", "<html", "<head", "<body")
_OTHER_FORMATS = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"{\\rtf", b"\x89PNG", b"GIF8")
_PROLOG = 1 << 16  # characters before the root that are looked at
_TOO_DEEP = f"the page is nested {DEEPEST} elements deep; what lies deeper was left out"


class HtmlParser:
    """Turns a page into Markdown of its main content, and metadata.

    HtmlParser(context).parse(path, probe, no_progress)
    """

    def __init__(self, context: PluginContext) -> None:
        self._log = context.log

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        """The page in ``path``; declines other formats and unknown encodings."""
        data = path.read_bytes()
        if probe.starts_with(*_OTHER_FORMATS):
            return Declined("the first bytes are those of another format")
        text = decode(data, media_type=probe.media_type)
        if text is None:
            return Declined("no text encoding fits")
        if not _claimed(probe) and not _begins_as_html(text):
            return Declined("markup, but the root element is not html")
        return self._document(text, probe)

    def _document(self, text: str, probe: Probe) -> Document:
        media_type = _media_type(probe)
        try:
            root = parse(text)
            if root is None:
                return Document(markdown="")
            metadata = read_metadata(root, media_type=media_type)
            levels = depth(root)
            prune(root)
            return Document(
                markdown=to_markdown(main_content(root), depth=levels),
                metadata=metadata,
                warnings=(_TOO_DEEP,) if levels >= DEEPEST else (),
            )
        except (RecursionError, MemoryError) as error:
            raise ExtractionFailed("the page is nested too deeply or too large to read") from error


def _claimed(probe: Probe) -> bool:
    return probe.suffix in _SUFFIXES or _bare(probe.media_type) in _MEDIA_TYPES


def _bare(media_type: str | None) -> str:
    return (media_type or "").partition(";")[0].strip().lower()


def _media_type(probe: Probe) -> str:
    xhtml = probe.suffix == ".xhtml" or _bare(probe.media_type) == "application/xhtml+xml"
    return "application/xhtml+xml" if xhtml else "text/html"


def _begins_as_html(text: str) -> bool:
    """Whether the first thing after XML declaration and comments is HTML."""
    rest = text[:_PROLOG].lstrip("\ufeff \t\r\n\f")
    for opening, closing in (("<?xml", "?>"), ("<!--", "-->")):
        while rest.startswith(opening):
            rest = rest.partition(closing)[2].lstrip()
    return rest[:20].lower().startswith(_ROOTS)
