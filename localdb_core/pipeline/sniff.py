"""The media type of a file by its first bytes, then by its name (L-ING-23)."""

from __future__ import annotations

from typing import Final

from localdb_core.domain.formats import CODE_SUFFIXES, LOCKFILES, stored_mime, suffix_of
from localdb_core.plugin import Probe

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."

_BINARY: Final = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-elf"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"wOF2", "font/woff2"),
)
_CONTAINERS: Final = {
    b"PK\x03\x04": {
        ".docx": _OFFICE + "wordprocessingml.document",
        ".pptx": _OFFICE + "presentationml.presentation",
        ".xlsx": _OFFICE + "spreadsheetml.sheet",
        ".odt": _OPEN + "text",
        ".ods": _OPEN + "spreadsheet",
        ".odp": _OPEN + "presentation",
        ".epub": "application/epub+zip",
        "": "application/zip",
    },
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": {
        ".doc": "application/msword",
        ".xls": "application/vnd.ms-excel",
        ".ppt": "application/vnd.ms-powerpoint",
        ".msg": "application/vnd.ms-outlook",
        "": "application/x-ole-storage",
    },
}
_TEXTUAL: Final = (
    (b"<!doctype html", "text/html"),
    (b"<html", "text/html"),
    (b"{\\rtf", "text/rtf"),
    (b"<?xml", "application/xml"),
)
_BY_SUFFIX: Final = {
    ".mdown": "text/markdown",
    ".mkd": "text/markdown",
    ".mkdn": "text/markdown",
    ".text": "text/plain",
    ".xhtml": "application/xhtml+xml",
    ".csv": "text/csv",
    ".css": "text/css",
    ".xml": "application/xml",
    ".rtf": "text/rtf",
    ".ipynb": "application/x-ipynb+json",
    ".eml": "message/rfc822",
    ".c": "text/x-c",
    ".h": "text/x-c",
    ".cpp": "text/x-c++",
    ".hpp": "text/x-c++",
    ".go": "text/x-go",
    ".java": "text/x-java",
    ".rb": "text/x-ruby",
    ".php": "text/x-php",
    ".sh": "text/x-sh",
    ".scss": "text/x-scss",
    ".sql": "text/x-sql",
    **_CONTAINERS[b"PK\x03\x04"],
    **_CONTAINERS[b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
}


def sniff(head: bytes, name: str) -> str | None:
    """The media type, or None when neither bytes nor name say anything.

    Binary formats are told by their bytes, whatever the name. A text format is told by
    its name first: Markdown that begins with an HTML tag is still Markdown.
    """
    suffix = suffix_of(name)
    return _binary(head, suffix) or _by_name(name, suffix) or _textual(head, name)


def _binary(head: bytes, suffix: str) -> str | None:
    for magic, by_suffix in _CONTAINERS.items():
        if head.startswith(magic):
            if head[30:58] == b"mimetypeapplication/epub+zip":
                return "application/epub+zip"
            return by_suffix.get(suffix, by_suffix[""])
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    trimmed = Probe("", head).trimmed_head
    if trimmed.startswith(b"%PDF-"):
        return "application/pdf"
    return next((kind for magic, kind in _BINARY if head.startswith(magic)), None)


def _by_name(name: str, suffix: str) -> str | None:
    if name in LOCKFILES:
        return "text/plain"
    if suffix and suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    stored = stored_mime(name)
    if stored != "application/octet-stream":
        return stored
    return "text/plain" if suffix in CODE_SUFFIXES else None


def _textual(head: bytes, name: str) -> str | None:
    start = Probe(name, head).trimmed_head[:32].lower()
    return next((kind for magic, kind in _TEXTUAL if start.startswith(magic)), None)
