"""The text of one page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pypdf import PageObject
from pypdf.generic import ArrayObject, ByteStringObject

from localdb_core.domain import ExtractionFailed
from localdb_pdf.headings import Bookmark, find_headings
from localdb_pdf.markdown import escape_line, heading_line

# pypdf reads a few hundred kilobytes of operators a second; more than this on one page
# would run into the stall limit and cost the whole document.
LARGEST_CONTENT = 4 * 1024 * 1024

_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}
_GONE: dict[int, None] = {0x00AD: None, 0x0000: None}  # soft hyphen, NUL
_CLEANING: dict[int, str | None] = {**_LIGATURES, **_GONE}
_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_SHOWN_TEXT = {b"Tj": 0, b"'": 0, b'"': 2, b"TJ": 0}  # operator → which operand is the text


def page_text(page: PageObject) -> str:
    """What the page says, cleaned; running heads and the like left out where tagged.

    Raises:
        ExtractionFailed: there is more drawing on the page than is worth reading.
    """
    contents = page.get_contents()
    data = b"" if contents is None else contents.get_data()
    if len(data) > LARGEST_CONTENT and b"BT" in data:
        raise ExtractionFailed(f"the page's content has {len(data)} bytes")
    if b"/Artifact" in data:
        return clean(page.extract_text(visitor_operand_before=_ArtifactEraser()))
    return clean(page.extract_text())


def has_picture(page: PageObject) -> bool:
    """Whether the page draws an image of its own resources."""
    contents = page.get_contents()
    if contents is None or b"Do" not in contents.get_data():
        return False
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources is not None else None
    if objects is None:
        return False
    return any(
        drawn.get_object().get("/Subtype") == "/Image" for drawn in objects.get_object().values()
    )


def clean(text: str) -> str:
    """Ligatures spelled out, soft hyphens and NULs gone, LF line ends, valid Unicode."""
    text = _LINE_ENDS.sub("\n", text.translate(_CLEANING))
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def page_markdown(text: str, bookmarks: Sequence[Bookmark]) -> str:
    """A page's lines as Markdown; lines the outline names become headings."""
    lines = [line.strip() for line in text.split("\n")]
    headings = find_headings(lines, bookmarks) if bookmarks else {}
    out: list[str] = []
    at = 0
    while at < len(lines):
        if at in headings:
            count, title, level = headings[at]
            out += ["", heading_line(title, level=level), ""]
            at += count
        else:
            out.append(escape_line(lines[at]))
            at += 1
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n")


class _ArtifactEraser:
    """A visitor of operators that empties the text shown inside ``/Artifact`` … ``EMC``.

    Forms drawn inside such a section are visited too, so their text goes as well.
    """

    def __init__(self) -> None:
        self._sections: list[bool] = []

    def __call__(self, operator: bytes, operands: Any, _cm: Any, _tm: Any) -> None:
        """Called by pypdf before each operator. Any: pypdf's own operand objects."""
        if operator in (b"BDC", b"BMC"):
            self._sections.append(bool(operands) and operands[0] == "/Artifact")
        elif operator == b"EMC" and self._sections:
            self._sections.pop()
        elif operator in _SHOWN_TEXT and any(self._sections):
            place = _SHOWN_TEXT[operator]
            if len(operands) > place:
                operands[place] = ArrayObject() if operator == b"TJ" else ByteStringObject(b"")
