"""Bytes to text: byte-order mark, UTF-8, then detection (L-PAR-18, S-12)."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from localdb_core.plugin import Probe

SAMPLE = 256 * 1024
"""Bytes the detector looks at; the rest of a file cannot change the verdict's cost."""

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SHIFTED_JAPANESE = re.compile(rb"\x1b\$[@B]")
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_NEWLINES = re.compile("\r\n?")

# Letters beyond ASCII that one language uses. The detector takes short Western texts for
# Central European ones; text that keeps to one of these alphabets is what it looks like.
_WESTERN = tuple(
    frozenset(letters + letters.upper().replace("SS", ""))
    for letters in (
        "àâæçèéêëîïôœùûüÿ",
        "äöüßé",
        "áéíóúüñïª",
        "áâãàçéêíóôõúü",
        "àèéìíòóùú",
        "åäöæøéü",
        "áéíóúýðþæö",
        "áàâäéèêëíïóôöúûüĳ",
    )
)
_TURKISH = frozenset("çğıöşüâîûÇĞİÖŞÜÂÎÛ")
_TYPOGRAPHY = frozenset("‘’“”„‚‹›«»–—…•·°§©®™€£¿¡´\xa0")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with LF line ends and without a byte-order mark.

    ``damaged`` counts characters that had to be replaced.
    """

    text: str
    encoding: str
    damaged: int = 0


def media_type(probe: Probe) -> str | None:
    """The probe's media type without parameters, lower case."""
    return (probe.media_type or "").partition(";")[0].strip().lower() or None


def decode(data: bytes) -> Decoded | None:
    """The text of a file, or None when it is not text in any encoding."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _finish(data[len(mark) :], encoding)
    if b"\x00" in data:
        return _wide(data)
    if _SHIFTED_JAPANESE.search(data, 0, SAMPLE) and (text := _strictly(data, "iso2022_jp")):
        return Decoded(_NEWLINES.sub("\n", text), "iso2022_jp")
    text = _strictly(data, "utf-8")
    if text is not None:
        return Decoded(_NEWLINES.sub("\n", text), "utf-8")
    if _mostly_utf8(data):
        return _finish(data, "utf-8")
    encoding_found = _detect(data[:SAMPLE])
    return None if encoding_found is None else _finish(data, encoding_found)


def _finish(data: bytes, encoding: str) -> Decoded | None:
    text = data.decode(encoding, "replace")
    if "\x00" in text:
        return None
    return Decoded(_NEWLINES.sub("\n", text), encoding, text.count("\ufffd"))


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 without a mark: one half of the byte pairs holds nearly all the NULs."""
    head = data[:4096]
    first, second = head[0::2].count(0), head[1::2].count(0)
    if max(first, second) < len(head) // 8 or min(first, second) * 8 > max(first, second):
        return None
    encoding = "utf-16-be" if first > second else "utf-16-le"
    text = _strictly(data, encoding)
    if text is None or "\x00" in text:
        return None
    return Decoded(_NEWLINES.sub("\n", text), encoding)


def _mostly_utf8(data: bytes) -> bool:
    """Whether a few bad bytes stand in what is UTF-8 otherwise."""
    sample = data[:SAMPLE]
    text = sample.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    beyond_ascii = sum(1 for char in text if char > "\x7f") - bad
    return beyond_ascii > 0 and bad * 20 < beyond_ascii


def _detect(sample: bytes) -> str | None:
    if len(_CONTROL.findall(sample)) * 50 > len(sample):
        return None
    known = _by_alphabet(sample)
    if known is not None:
        return known
    from charset_normalizer import from_bytes  # 25 ms

    best = from_bytes(sample).best()
    return None if best is None else best.encoding


def _by_alphabet(sample: bytes) -> str | None:
    for encoding, alphabets in (("cp1252", _WESTERN), ("cp1254", (_TURKISH,))):
        text = _strictly(sample, encoding)
        if text is None:
            continue
        beyond = {char for char in text if char > "\x7f"} - _TYPOGRAPHY
        share = sum(map(text.count, beyond))
        if share * 3 > sum(map(str.isascii, text)):
            continue
        if any(beyond <= alphabet for alphabet in alphabets):
            return encoding
    return None
