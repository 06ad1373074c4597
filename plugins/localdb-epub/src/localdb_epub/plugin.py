"""The light half of the EPUB parser."""

from __future__ import annotations

from collections.abc import Iterable

from localdb_core.plugin import ParserSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="EPUB books, with EbookLib (AGPL-3.0-or-later)")


@hookimpl
def localdb_parsers() -> Iterable[ParserSpec]:
    """One parser. No magic: its first bytes are those of every zip file."""
    return [
        ParserSpec(
            name="epub",
            target="localdb_epub.parser:build",
            summary="EPUB",
            suffixes=(".epub",),
            media_types=("application/epub+zip",),
            runs="process",
            stall_limit=120.0,  # one chapter can be a whole novel, and nothing is said within it
        )
    ]
