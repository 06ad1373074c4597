"""The Markdown parser: a pass-through that reads front matter and the title."""

from __future__ import annotations

import re
from pathlib import Path

from localdb_core.builtin.decode import Decoded, decode, media_type
from localdb_core.builtin.frontmatter import read_front_matter
from localdb_core.domain import Metadata
from localdb_core.domain.formats import MARKDOWN_SUFFIXES
from localdb_core.domain.frontmatter import split_front_matter
from localdb_core.plugin import Declined, Document, ParseResult, PluginContext, Probe, Progress

_ATX = re.compile(r" {0,3}#[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*")
# What surrounds words in a heading: links, images, HTML tags, emphasis, code.
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_MARKS = re.compile(r"(?<!\\)(?:\*+|`+|~~|(?<!\w)_+|_+(?!\w))|\\(?=[^\w\s])")
_NOT_A_PARAGRAPH = (" ", "\t", "#", ">", "-", "*", "+", "|", "<")


class MarkdownParser:
    """Markdown as it is, with Dublin Core from its front matter (L-PAR-14)."""

    def __init__(self, context: PluginContext) -> None:
        del context

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        """The file's text; declined when no encoding is found."""
        del progress
        named = probe.suffix in MARKDOWN_SUFFIXES
        if not named and media_type(probe) != "text/markdown":
            return Declined("not the name of a Markdown file")
        decoded = decode(path.read_bytes())
        if decoded is None:
            return Declined("no text encoding found")
        return markdown_document(decoded, probe)


def markdown_document(decoded: Decoded, probe: Probe) -> Document:
    """A document out of Markdown text, with what its front matter says."""
    text = decoded.text
    found = split_front_matter(text)
    metadata, warnings, read = Metadata(), list(encoding_warnings(decoded)), False
    if found is not None:
        reading = read_front_matter(found)
        metadata, read = reading.metadata, not reading.problem
        if reading.problem:
            warnings.append(reading.problem)
    title = metadata.title or first_heading(text[found.end :] if found else text)
    metadata = metadata.with_(title=title, format=media_type(probe) or "text/markdown")
    return Document(
        markdown=text, metadata=metadata, warnings=tuple(warnings), front_matter_read=read
    )


def encoding_warnings(decoded: Decoded) -> tuple[str, ...]:
    """What a person should know about how the bytes were read."""
    if not decoded.damaged:
        return ()
    return (f"{decoded.damaged} characters could not be read as {decoded.encoding}",)


def first_heading(text: str) -> str | None:
    """The text of the first heading of level 1, or None."""
    fence, before = "", ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence or mark:
            fence, before = _fence_after(fence, mark, line), ""
            continue
        found = _ATX.fullmatch(line)
        heading = found.group(1) if found else before if _UNDERLINE.fullmatch(line) else ""
        if heading and (title := _plain(heading)):
            return title
        before = "" if not line.strip() or line.startswith(_NOT_A_PARAGRAPH) else line
    return None


def _fence_after(fence: str, mark: re.Match[str] | None, line: str) -> str:
    """The open code fence below a line, empty when there is none."""
    if mark is None:
        return fence
    if not fence:
        return mark.group(1)
    closes = mark.group(1).startswith(fence) and not line.strip(" `~")
    return "" if closes else fence


def _plain(heading: str) -> str:
    shown = _LINK.sub(lambda m: "" if m.group().startswith("!") else m.group(1), heading[:1000])
    shown = _LINK.sub(r"\1", shown)
    return " ".join(_MARKS.sub("", _TAG.sub("", shown)).split())
