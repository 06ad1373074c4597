"""The zip file around a book: what is in it, bounded, and whether it is locked."""

from __future__ import annotations

import posixpath
from typing import Final
from zipfile import ZipFile, ZipInfo

from lxml import etree

from localdb_core.domain import ExtractionFailed, UnsupportedFormat

MOST_BYTES: Final = 512 * 1024 * 1024
LARGEST_CHAPTER: Final = 4 * 1024 * 1024
HIGHEST_RATIO: Final = 200
RATIO_FROM: Final = 1024 * 1024  # small files may be as repetitive as they like

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_RIGHTS = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
_FONT_OBFUSCATION = frozenset(
    {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
)
_XENC = "{http://www.w3.org/2001/04/xmlenc#}"


class Archive:
    """A book's files by name. Counts what was unpacked and stops at a limit."""

    def __init__(self, zipped: ZipFile) -> None:
        self._zip = zipped
        self._entries: dict[str, ZipInfo] = {info.filename: info for info in zipped.infolist()}
        self._unpacked = 0

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """One file.

        Raises:
            KeyError: there is none of that name.
            ExtractionFailed: the archive unpacks to more than it should.
        """
        info = self._entries[posixpath.normpath(name)]
        if info.file_size > max(RATIO_FROM, info.compress_size * HIGHEST_RATIO):
            raise ExtractionFailed(
                f"{name} unpacks from {info.compress_size} to {info.file_size} bytes:"
                " this looks like a zip bomb"
            )
        if self._unpacked + info.file_size > MOST_BYTES:
            raise ExtractionFailed(f"the book unpacks to more than {MOST_BYTES} bytes")
        self._unpacked += info.file_size
        return self._zip.read(info)

    def size(self, name: str) -> int:
        """Unpacked size of one file. Raises KeyError."""
        return self._entries[posixpath.normpath(name)].file_size

    @property
    def is_book(self) -> bool:
        """Whether this zip says that it is an EPUB."""
        if _CONTAINER in self:
            return True
        return (
            "mimetype" in self and self.size("mimetype") < 100 and b"epub" in self.read("mimetype")
        )

    def refuse_if_protected(self) -> None:
        """Raises UnsupportedFormat when the text is under digital rights management."""
        marker = next((name for name in _RIGHTS if name in self), None)
        if marker is None and _ENCRYPTION in self and self._encrypts_content():
            marker = _ENCRYPTION
        if marker is not None:
            raise UnsupportedFormat(
                f"the book is copy-protected (DRM, {marker}); its text cannot be read"
            )

    def _encrypts_content(self) -> bool:
        root = parse_xml(self.read(_ENCRYPTION))
        if root is None:
            return True
        methods = (
            data.find(f"{_XENC}EncryptionMethod") for data in root.iter(f"{_XENC}EncryptedData")
        )
        return any(
            method is None or method.get("Algorithm") not in _FONT_OBFUSCATION for method in methods
        )


def parse_xml(content: bytes) -> etree._Element | None:
    """The root element, mending what can be mended; None when there is nothing.

    Entities are not expanded and nothing is fetched.
    """
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
