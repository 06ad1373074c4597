"""The light half: what the Office plugin offers."""

from __future__ import annotations

from localdb_core.plugin import ParserSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(
    api="1.0",
    summary="Word, PowerPoint, Excel and CSV files",
    config="localdb_office.config:OfficeConfig",
)
_OOXML = "application/vnd.openxmlformats-officedocument."


@hookimpl
def localdb_parsers() -> list[ParserSpec]:
    """The one parser of this plugin."""
    return [
        ParserSpec(
            name="office",
            target="localdb_office.parser:OfficeParser",
            summary="docx, pptx, xlsx and csv as Markdown",
            media_types=(
                _OOXML + "wordprocessingml.document",
                _OOXML + "presentationml.presentation",
                _OOXML + "spreadsheetml.sheet",
                "text/csv",
                "text/tab-separated-values",
            ),
            suffixes=(".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm", ".csv", ".tsv"),
            runs="process",
        )
    ]
