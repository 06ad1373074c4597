"""From bytes to text: mark, declaration, UTF-8, then detection."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_DECLARED = re.compile(
    rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]{1,40})"""
    rb"""|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_DECLARATION_ZONE = 8192
_DETECTION_ZONE = 1 << 16
# Browsers read these labels as their Windows superset.
_SUPERSET = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "iso8859-9": "cp1254"}
_DAMAGE = 1000  # one bad byte in so many characters is damage, not another encoding
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROL_SHARE = 10


def decode(data: bytes, *, media_type: str | None = None) -> str | None:
    """The page's text, or None when no encoding fits."""
    text = _decode(data, media_type)
    if text is None or len(_CONTROL.findall(text[:_DETECTION_ZONE])) * _CONTROL_SHARE > len(
        text[:_DETECTION_ZONE]
    ):
        return None
    return _CONTROL.sub("", text)


def _decode(data: bytes, media_type: str | None) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    utf8 = _strict(data, "utf-8")
    # A page that is valid UTF-8 is UTF-8, whatever it says: other encodings hardly
    # ever give valid sequences. ISO-2022-JP and UTF-7 look like ASCII, so they must
    # be asked for by name.
    declared = _declared(data, media_type)
    if utf8 is not None and (declared is None or not declared.startswith("iso2022")):
        return utf8
    if declared is not None and declared != "utf-8":
        text = _strict(data, declared)
        if text is not None:
            return text
    return utf8 or _damaged_utf8(data) or _detected(data)


def _declared(data: bytes, media_type: str | None) -> str | None:
    header = _HEADER_CHARSET.search(media_type or "")
    if header:
        return _known(header[1])
    found = _DECLARED.search(data[:_DECLARATION_ZONE])
    if not found:
        return None
    name = _known((found[1] or found[2]).decode("ascii", "replace"))
    # The declaration was read as ASCII, so UTF-16 cannot be true.
    return None if name is None or name.startswith("utf-16") else name


def _known(label: str) -> str | None:
    try:
        info = codecs.lookup(label)
    except LookupError:
        return None
    if not getattr(info, "_is_text_encoding", True) or info.name in ("utf-7", "idna", "punycode"):
        return None
    return _SUPERSET.get(info.name, info.name)


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _damaged_utf8(data: bytes) -> str | None:
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    return text if bad * _DAMAGE <= len(text) else None


def _detected(data: bytes) -> str | None:
    from charset_normalizer import from_bytes  # 50 ms

    best = from_bytes(data[:_DETECTION_ZONE]).best()
    return data.decode(best.encoding, "replace") if best is not None else None
