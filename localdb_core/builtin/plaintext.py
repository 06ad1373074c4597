"""The plain text parser: prose goes on as Markdown, code stays as it is."""

from __future__ import annotations

from pathlib import Path

from localdb_core.builtin.decode import decode, media_type
from localdb_core.builtin.markdown import encoding_warnings
from localdb_core.domain import Block, Metadata
from localdb_core.domain.formats import CODE_SUFFIXES, LOCKFILES, TEXT_SUFFIXES
from localdb_core.plugin import Declined, Document, ParseResult, PluginContext, Probe, Progress


class PlainTextParser:
    """Text and source code, unchanged but for their line ends (L-PAR-15)."""

    def __init__(self, context: PluginContext) -> None:
        del context

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        """The file's text; declined for other names and when no encoding is found."""
        del progress
        is_code = probe.suffix in CODE_SUFFIXES or probe.name in LOCKFILES
        kind = media_type(probe)
        if not is_code and probe.suffix not in TEXT_SUFFIXES and kind != "text/plain":
            return Declined("not the name of a text file")
        decoded = decode(path.read_bytes())
        if decoded is None:
            return Declined("no text encoding found")
        metadata = Metadata(format=kind or "text/plain")
        warnings = encoding_warnings(decoded)
        if is_code:
            # Read as Markdown, a comment would become a heading and indentation would be lost.
            blocks = (Block.text_run(decoded.text),) if decoded.text.strip() else ()
            return Document(blocks=blocks, metadata=metadata, warnings=warnings)
        return Document(markdown=decoded.text, metadata=metadata, warnings=warnings)
