"""The light half: what the HTML plugin offers."""

from __future__ import annotations

from localdb_core.plugin import ParserSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="HTML pages: main content as Markdown, with metadata")


@hookimpl
def localdb_parsers() -> list[ParserSpec]:
    """The one parser of this plugin."""
    return [
        ParserSpec(
            name="html",
            target="localdb_html.parser:HtmlParser",
            summary="HTML and XHTML pages",
            media_types=("text/html", "application/xhtml+xml"),
            suffixes=(".html", ".htm", ".xhtml"),
            magic=(
                b"<!DOCTYPE html",
                b"<!DOCTYPE HTML",
                b"<!doctype html",
                b"<!doctype HTML",
                b"<!Doctype html",
                b"<html",
                b"<HTML",
            ),
            runs="thread",
        )
    ]
