"""URIs: making, normalising and showing them (spec §1.8)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit, urlunsplit

_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21, "ws": 80, "wss": 443}
# Stays literal in a path (L-DOM-41); every other byte is percent-encoded.
_FILE_SAFE = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@[]|"
)
_PATH_SAFE = _FILE_SAFE | frozenset(b"/%\\")
_QUERY_SAFE = _PATH_SAFE | frozenset(b"?{}`^")
_UNSAFE_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def _encode(raw: bytes, safe: frozenset[int]) -> str:
    return "".join(chr(byte) if byte in safe else f"%{byte:02X}" for byte in raw)


def file_uri(path: Path) -> str:
    """``file://`` URI of an absolute path, each segment encoded from its raw OS bytes.

    Raises:
        ValueError: the path is not absolute.
    """
    if not path.is_absolute():
        raise ValueError(f"not an absolute path: {path}")
    segments = (_encode(os.fsencode(part), _FILE_SAFE) for part in path.parts[1:])
    return "file:///" + "/".join(segments)


def file_path(uri: str) -> Path:
    """The path behind a ``file:`` URI. Raises ValueError for any other scheme."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise ValueError(f"not a file URI: {uri}")
    return Path(os.fsdecode(unquote_to_bytes(parts.path)))


def normalise_url(text: str) -> str:
    """The WHATWG form: lower-case scheme and host, no default port, dots resolved.

    Existing percent-escapes are kept as they are. Raises ValueError when there is
    no scheme, or a bad port.
    """
    parts = urlsplit(text.strip())
    if not parts.scheme:
        raise ValueError(f"no scheme in {text!r}")
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS and scheme != "file":
        return text.strip()
    host = _host(parts.hostname or "")
    if scheme != "file" and not host:
        raise ValueError(f"no host in {text!r}")
    port = parts.port
    netloc = host if port is None or port == _DEFAULT_PORTS.get(scheme) else f"{host}:{port}"
    if "@" in parts.netloc:
        netloc = parts.netloc.rsplit("@", 1)[0] + "@" + netloc
    path = _resolve_dots(parts.path.replace("\\", "/")) or "/"
    return urlunsplit(
        (
            scheme,
            netloc,
            _encode(path.encode("utf-8", "surrogateescape"), _PATH_SAFE),
            _encode(parts.query.encode(), _QUERY_SAFE),
            _encode(parts.fragment.encode(), _QUERY_SAFE),
        )
    )


def _host(name: str) -> str:
    if ":" in name:
        return f"[{name}]"
    try:
        return name.encode("ascii").decode().lower()
    except UnicodeEncodeError:
        return name.encode("idna").decode()


def _resolve_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments[1:] if path.startswith("/") else segments:
        lowered = segment.lower().replace("%2e", ".")
        if lowered == "..":
            if kept:
                kept.pop()
        elif lowered != ".":
            kept.append(segment)
    last = segments[-1].lower().replace("%2e", ".")
    trailing = last in (".", "..") and kept
    return "/" + "/".join(kept) + ("/" if trailing and kept[-1] else "")


def display(uri: str) -> str:
    """The form for terminals: decoded, with control and bidi characters replaced."""
    parts = urlsplit(uri)
    decoded = unquote_to_bytes(parts.path).decode("utf-8", "replace")
    rest = (f"?{parts.query}" if parts.query else "") + (
        f"#{parts.fragment}" if parts.fragment else ""
    )
    if not parts.scheme:
        shown = uri
    elif parts.netloc:
        shown = f"{parts.scheme}://{parts.netloc}{decoded}{rest}"
    else:
        shown = f"{parts.scheme}:{decoded}{rest}"
    return printable(shown)


def printable(text: str) -> str:
    """Text without control and bidi characters (each becomes U+FFFD)."""
    return _UNSAFE_SHOWN.sub("\ufffd", text)
