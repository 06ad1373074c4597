"""Bytes to text: a byte-order mark, UTF-8, then what the file says of itself."""

from __future__ import annotations

import codecs
import re
from typing import Final

_DECLARED = re.compile(rb"^%\s{0,9}Encoding:\s{0,9}([\w.:-]{1,40})", re.IGNORECASE | re.MULTILINE)
_FALLBACK: Final = "cp1252"


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text and what a person should know of it. Raises ValueError: this is no text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _without_nul(data.decode("utf-16")), ()
    try:
        return _without_nul(data.decode("utf-8-sig")), ()
    except UnicodeDecodeError:
        pass
    name = _declared(data)
    text = _without_nul(data.decode(name or _FALLBACK, "replace"))
    guessed = () if name else (f"neither UTF-8 nor '% Encoding:'; read as {_FALLBACK}",)
    lost = text.count("\ufffd")
    return text, guessed + ((f"{lost} characters are not {name or _FALLBACK}",) if lost else ())


def _declared(data: bytes) -> str | None:
    """The encoding in a line such as ``% Encoding: ISO8859_1``, if Python knows it."""
    found = _DECLARED.search(data, 0, 4096)
    if found is None:
        return None
    try:
        info = codecs.lookup(found[1].decode("ascii"))
        # Python also has codecs between bytes and bytes, such as zip.
        decoded = b"a".decode(info.name)
    except (LookupError, UnicodeError):
        return None
    return info.name if decoded == "a" else None


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("binary")
    return text
