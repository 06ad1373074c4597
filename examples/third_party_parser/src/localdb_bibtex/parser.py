"""The parser: a heading and its facts for each reference."""

from __future__ import annotations

from pathlib import Path

from localdb_bibtex.decode import decode
from localdb_bibtex.entries import Bibliography, looks_like_bibtex, read
from localdb_bibtex.reference import Reference, inherit
from localdb_core.domain import Block, ExtractionFailed, Metadata
from localdb_core.plugin import Declined, Document, ParseResult, PluginContext, Probe, Progress


class BibtexParser:
    """Gives every reference a heading, so that a citation names it."""

    def __init__(self, context: PluginContext) -> None:
        self._log = context.log

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        """The document, or a decline when nothing in it is BibTeX. Raises ExtractionFailed."""
        try:
            text, notes = decode(path.read_bytes())
        except ValueError:
            return Declined("not text")
        if not looks_like_bibtex(text):
            return Declined("nothing in it begins like a BibTeX entry")
        found = Bibliography.of(text)
        for at in read(text, found):
            progress(at, len(text))
        if found.damaged and not found.entries:
            raise ExtractionFailed(f"no reference can be read; {found.damage[0]}")
        inherit(found)
        references = [Reference(entry) for entry in found.entries]
        blocks: list[Block] = []
        for reference in references:
            blocks += (Block.heading(reference.title, level=1), Block.text_run(reference.text()))
        return Document(
            blocks=tuple(blocks),
            # A bibliography has no author; a file of one reference, as shops give it, has.
            metadata=references[0].metadata() if len(references) == 1 else Metadata(),
            warnings=(*notes, *_warnings(found)),
        )


def _warnings(found: Bibliography) -> tuple[str, ...]:
    untold = found.damaged - len(found.damage)
    return (*found.damage, *((f"and {untold} more like these",) if untold else ()))
