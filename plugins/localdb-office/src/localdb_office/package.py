"""An Office file is a zip archive of XML parts; this reads it with care."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lxml import etree

from localdb_core.domain import ExtractionFailed, UnsupportedFormat

_MOST_BYTES = 1 << 30
_MOST_PARTS = 100_000
_BOMB_SIZE = 100 << 20  # below, a high ratio does no harm
_BOMB_RATIO = 500
_HEAD = 4096
_XML = (".xml", ".rels")
_ENCRYPTED = 0x1

Element = Any  # Any: lxml's element, whose stubs disagree with local names


class Package:
    """The parts of an opened Office file.

    with open_package(path) as package:
        root = package.xml("word/document.xml")
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.names = frozenset(archive.namelist())

    def has_folder(self, folder: str) -> bool:
        """Whether any part lies in ``folder``."""
        return any(name.startswith(folder + "/") for name in self.names)

    def xml(self, name: str) -> Element | None:
        """The root of a part, or None when there is no such part."""
        if name not in self.names:
            return None
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        )
        return etree.fromstring(self._archive.read(name), parser)

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """Relationships of a part: id → (last word of its type, name of the other part)."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, tuple[str, str]] = {}
        for relation in root if root is not None else ():
            if relation.get("TargetMode") == "External" or not relation.get("Target"):
                continue
            target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target")))
            kind = (relation.get("Type") or "").rpartition("/")[2]
            found[relation.get("Id") or ""] = (kind, target.lstrip("/"))
        return found

    def main_part(self, default: str) -> str:
        """The name of the document itself."""
        for kind, target in self.related("").values():
            if kind == "officeDocument":
                return target
        return default


@contextmanager
def open_package(path: Path) -> Iterator[Package]:
    """Open the archive after looking for bombs; damage becomes ``ExtractionFailed``."""
    try:
        with zipfile.ZipFile(path) as archive:
            _inspect(archive)
            yield Package(archive)
    except (zipfile.BadZipFile, etree.XMLSyntaxError, zipfile.LargeZipFile) as error:
        raise ExtractionFailed(f"the file is damaged: {_one_line(error)}") from error
    except (OSError, EOFError, RuntimeError, ValueError, KeyError, zlib.error) as error:
        # zipfile reports broken streams, odd headers and unknown methods with these
        raise ExtractionFailed(f"the file cannot be unpacked: {_one_line(error)}") from error


def _inspect(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    size = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    if len(parts) > _MOST_PARTS or size > _MOST_BYTES:
        raise ExtractionFailed(f"the archive unpacks to {size} bytes in {len(parts)} parts")
    if size > _BOMB_SIZE and size > _BOMB_RATIO * max(1, packed):
        raise ExtractionFailed(f"the archive unpacks {packed} bytes to {size}; that is no document")
    for part in parts:
        if part.flag_bits & _ENCRYPTED:
            raise UnsupportedFormat("the file is password-protected; save it without password")
        if part.filename.endswith(_XML):
            with archive.open(part) as stream:
                _refuse_document_type(stream.read(_HEAD), part.filename)


def _refuse_document_type(head: bytes, name: str) -> None:
    # Office files have no document type; entities are declared there, and so are bombs.
    if b"<!DOCTYPE" in head.replace(b"\x00", b"").upper():
        raise ExtractionFailed(f"the part {name} declares a document type, as no Office file may")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def local(element: Element) -> str:
    """The tag without its namespace; Strict and Transitional files differ only there."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """The attribute of this local name."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return None


def child(element: Element | None, *path: str) -> Element | None:
    """The first child, its first child … with these local names."""
    for name in path:
        if element is None:
            return None
        element = next((e for e in element if local(e) == name), None)
    return element


def descendants(element: Element, *names: str) -> Iterator[Element]:
    """Everything below with one of these local names, in document order."""
    return (e for e in element.iter() if local(e) in names)
