"""What core itself offers through the plugin API: the light half."""

from __future__ import annotations

from collections.abc import Iterable

from localdb_core.builtin.tools import SPECS
from localdb_core.domain.formats import CODE_SUFFIXES, LOCKFILES, MARKDOWN_SUFFIXES, TEXT_SUFFIXES
from localdb_core.plugin import (
    ChunkerSpec,
    ParserSpec,
    PluginInfo,
    SourceSpec,
    ToolSpec,
    hookimpl,
)

PLUGIN = PluginInfo(
    api="1.0", summary="Markdown and plain text, folders, chunkers and the five tools for agents"
)


@hookimpl
def localdb_parsers() -> Iterable[ParserSpec]:
    """Markdown and plain text, code included."""
    return (
        ParserSpec(
            name="markdown",
            target="localdb_core.builtin.markdown:MarkdownParser",
            summary="Markdown with front matter",
            media_types=("text/markdown",),
            suffixes=MARKDOWN_SUFFIXES,
            runs="thread",
        ),
        ParserSpec(
            name="plaintext",
            target="localdb_core.builtin.plaintext:PlainTextParser",
            summary="plain text and source code in any encoding",
            media_types=("text/plain",),
            suffixes=TEXT_SUFFIXES + CODE_SUFFIXES,
            filenames=LOCKFILES,
            runs="thread",
        ),
    )


@hookimpl
def localdb_chunkers() -> Iterable[ChunkerSpec]:
    """Five chunkers; the first whose claim fits a block gets it."""
    return (
        ChunkerSpec(
            name="messages",
            target="localdb_core.builtin.chunkers.messages:MessageChunker",
            summary="overlapping windows of turns",
            claims=("message", "segment"),
            scope="document",
        ),
        ChunkerSpec(
            name="code",
            target="localdb_core.builtin.chunkers.code:CodeChunker",
            summary="whole lines up to a number of characters",
            claims=("code",),
        ),
        ChunkerSpec(
            name="code-text",
            target="localdb_core.builtin.chunkers.code:CodeChunker",
            summary="the running text of source files, cut like code",
            claims=("text",),
            presets=("code",),
        ),
        ChunkerSpec(
            name="prose",
            target="localdb_core.builtin.chunkers.prose:ProseChunker",
            summary="paragraphs and sentences up to a number of tokens",
            claims=("text",),
        ),
        ChunkerSpec(
            name="table",
            target="localdb_core.builtin.chunkers.table:TableChunker",
            summary="rows, each chunk with the header",
            claims=("table",),
        ),
        ChunkerSpec(
            name="passthrough",
            target="localdb_core.builtin.chunkers.passthrough:PassthroughChunker",
            summary="one chunk for each block",
            claims=("reference", "attachment", "image", "frontmatter", "heading"),
        ),
    )


@hookimpl
def localdb_sources() -> Iterable[SourceSpec]:
    """Folders and single files."""
    return (
        SourceSpec(
            name="path",
            target="localdb_core.builtin.files:PathSource",
            summary="a folder or a file on this machine",
            kind="path",
        ),
    )


@hookimpl
def localdb_tools() -> Iterable[ToolSpec]:
    """The five tools of the contract."""
    return SPECS
