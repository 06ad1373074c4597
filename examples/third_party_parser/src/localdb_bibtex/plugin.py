"""The light half: what this plugin offers. Imports nothing but localdb_core.plugin."""

from __future__ import annotations

from localdb_core.plugin import ParserSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="references in BibTeX and BibLaTeX files")


@hookimpl
def localdb_parsers() -> list[ParserSpec]:
    """The one parser. It is plain Python that reads a file once, so a thread will do."""
    return [
        ParserSpec(
            name="bibtex",
            target="localdb_bibtex.parser:BibtexParser",
            summary="references of .bib files, accents and macros resolved",
            suffixes=(".bib", ".bibtex"),
            media_types=("application/x-bibtex", "text/x-bibtex"),
            # Raise it when the output changes: documents are parsed again at the next run.
            version="1",
            runs="thread",
        )
    ]
