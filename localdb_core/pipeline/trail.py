"""What is put in front of a chunk in what is embedded and in the keyword text (S-2).

The template is ``trail1``, named in ``CHUNK_ALGORITHM``: title and headings joined
by `` > ``, an empty line, the chunk. It never reaches text, snippet, span or id.
"""

from __future__ import annotations

from collections.abc import Sequence

from localdb_core.domain import Chunk
from localdb_core.plugin import Measure

LONGEST_TITLE = 1000
"""Characters; a longer one is none, and every chunk would carry it."""

_ARROW = " > "
_GAP = "\n\n"


def embedding_text(chunk: Chunk, title: str | None) -> str:
    """A chunk with its whole trail; also the text of the keyword leg."""
    return _joined(_parts(chunk, title), chunk.text)


def keyword_trail(chunk: Chunk, title: str | None) -> str:
    """The trail alone, as the keyword leg gets it in a field of its own."""
    return _ARROW.join(_parts(chunk, title))


def embedding_texts(
    chunks: Sequence[Chunk],
    title: str | None,
    *,
    limit: int | None = None,
    measure: Measure | None = None,
) -> list[str]:
    """Many chunks of one document, trails shortened where they would not fit.

    Args:
        chunks: of the same document.
        title: the document's.
        limit: longest input in the unit of ``measure``, without what the embedder
            adds itself; None never shortens.
        measure: called twice at most, however many chunks there are.
    """
    trails = [_parts(chunk, title) for chunk in chunks]
    if limit is None or measure is None or not chunks:
        return [_joined(trail, chunk.text) for trail, chunk in zip(trails, chunks, strict=True)]
    choices = [_shortenings(trail) for trail in trails]
    heads = sorted({_head(trail) for several in choices for trail in several if trail})
    sizes = dict(zip(heads, measure(heads), strict=True)) if heads else {}
    texts = []
    for chunk, several, size in zip(
        chunks, choices, measure([chunk.text for chunk in chunks]), strict=True
    ):
        fitting = (trail for trail in several if not trail or sizes[_head(trail)] + size <= limit)
        texts.append(_joined(next(fitting), chunk.text))
    return texts


def _parts(chunk: Chunk, title: str | None) -> tuple[str, ...]:
    headings = [" ".join(part.split()) for part in chunk.heading_path if part.strip()]
    shown = " ".join((title or "").split())
    if 0 < len(shown) <= LONGEST_TITLE and (
        not headings or headings[0].casefold() != shown.casefold()
    ):
        headings.insert(0, shown)
    return tuple(headings)


def _shortenings(trail: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Ever shorter trails: the first part and the last say most about a chunk."""
    several = [trail]
    while len(several[-1]) > 2:
        first, _, *rest = several[-1]
        several.append((first, *rest))
    if len(trail) > 1:
        several.append(trail[-1:])
    if trail:
        several.append(())
    return several


def _head(trail: tuple[str, ...]) -> str:
    return _ARROW.join(trail) + _GAP


def _joined(trail: tuple[str, ...], text: str) -> str:
    return _head(trail) + text if trail else text
