"""File names of text formats, and the media type that is stored for a name (spec §3.1, §3.2)."""

from __future__ import annotations

from typing import Final

MARKDOWN_SUFFIXES: Final = (".md", ".markdown", ".mdown", ".mkd", ".mkdn")
TEXT_SUFFIXES: Final = (".txt", ".text")
CODE_SUFFIXES: Final = (
    ".rs",
    ".py",
    ".js",
    ".mjs",
    ".ts",
    ".tsx",
    ".json",
    ".yaml",
    ".yml",
    ".toml",
    ".lock",
    ".c",
    ".h",
    ".cpp",
    ".hpp",
    ".go",
    ".java",
    ".rb",
    ".php",
    ".sh",
    ".css",
    ".scss",
    ".sql",
    ".csv",
    ".xml",
    ".ini",
    ".cfg",
)
LOCKFILES: Final = (
    "Cargo.lock",
    "package-lock.json",
    "yarn.lock",
    "poetry.lock",
    "Gemfile.lock",
)

_STORED = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "txt": "text/plain",
    "html": "text/html",
    "htm": "text/html",
    "pdf": "application/pdf",
    "epub": "application/epub+zip",
    "rs": "text/x-rust",
    "py": "text/x-python",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "ts": "text/typescript",
    "tsx": "text/typescript",
    "json": "application/json",
    "yaml": "text/yaml",
    "yml": "text/yaml",
    "toml": "text/toml",
}


def suffix_of(name: str) -> str:
    """Lower-case extension with its dot; empty when the only dot comes first."""
    stem, dot, extension = name.rpartition(".")
    return f".{extension.lower()}" if dot and stem else ""


def stored_mime(name: str) -> str | None:
    """What the catalog keeps as a file's media type; None for a name without extension."""
    suffix = suffix_of(name)
    return _STORED.get(suffix[1:], "application/octet-stream") if suffix else None
