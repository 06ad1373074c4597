"""The light half of the PDF parser."""

from __future__ import annotations

from collections.abc import Iterable

from localdb_core.plugin import ParserSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="PDF files, page by page, with pypdf")


@hookimpl
def localdb_parsers() -> Iterable[ParserSpec]:
    """One parser. It runs in a process of its own: damaged files can hang or eat memory."""
    return [
        ParserSpec(
            name="pdf",
            target="localdb_pdf.parser:build",
            summary="PDF",
            suffixes=(".pdf",),
            media_types=("application/pdf",),
            magic=(b"%PDF-",),
            runs="process",
            total_limit=1800.0,
        )
    ]
