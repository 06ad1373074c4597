"""One chapter's XHTML as Markdown."""

from __future__ import annotations

import re
import warnings
from typing import Any

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from markdownify import MarkdownConverter

from localdb_core.domain import ExtractionFailed
from localdb_epub.contents import Title

_UNSEEN = ("head", "script", "style", "template")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_GAPS = re.compile(r"\n{3,}")


def chapter_markdown(content: bytes, title: Title | None) -> str:
    """The chapter's text; empty when it holds no letter or digit.

    Args:
        content: the XHTML file.
        title: becomes a heading when the chapter has none of its own.

    Raises:
        ExtractionFailed: these bytes are no markup.
    """
    if b"<" not in content[:4096]:
        raise ExtractionFailed("the file is not XHTML")
    soup = _soup(content)
    body = soup.body or soup
    if not any(map(str.isalnum, body.get_text())):
        return ""
    if title is not None and body.find(_HEADINGS) is None:
        heading = soup.new_tag(f"h{min(title.depth, 6)}")
        heading.string = title.text
        body.insert(0, heading)
    markdown: str = _Converter(heading_style="ATX", bullets="-", escape_misc=True).convert_soup(
        body
    )
    return _GAPS.sub("\n\n", markdown).strip()


def _soup(content: bytes) -> BeautifulSoup:
    with warnings.catch_warnings():
        # The HTML parser is chosen on purpose: it mends what strict XML would refuse.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        soup = BeautifulSoup(content, "lxml")
    for unseen in soup.find_all(_UNSEEN):
        unseen.decompose()
    return soup


class _Converter(MarkdownConverter):
    """Markdown without picture data and without links that lead nowhere outside the book.

    Its base class finds these methods by name; its types do not list them.
    """

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> Any:
        """An image with alternative text; a decoration without one vanishes."""
        alt = " ".join(str(el.get("alt") or "").split())
        if not alt or str(el.get("src") or "").startswith("data:"):
            return alt
        return super().convert_img(el, text, parent_tags)  # type: ignore[misc]

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> Any:
        """A link to the web stays one; a link within the book is its text."""
        if str(el.get("href") or "").startswith(("http://", "https://", "mailto:")):
            return super().convert_a(el, text, parent_tags)  # type: ignore[misc]
        return text
