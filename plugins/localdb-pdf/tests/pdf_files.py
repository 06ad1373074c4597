"""A writer of small PDF files, so that no test needs a file from elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from io import BytesIO

from pypdf import PdfReader, PdfWriter

# Codes 1 to 3 are ligatures, everything else is Latin-1.
_FONT = (
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding"
    b" /BaseEncoding /WinAnsiEncoding /Differences [1 /fi /fl /ff 173 /uni00AD] >> >>"
)
_PIXEL = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8"
    b" /ColorSpace /DeviceGray /Length 1 >>\nstream\n\x80\nendstream"
)
_RESOURCES = b"/Resources << /Font << /F1 3 0 R >> /XObject << /Im1 4 0 R >> >>"


def text_content(*lines: str) -> bytes:
    """The operators that show these lines."""
    shown = [b"(" + _escaped(line) + b") Tj T*" for line in lines]
    return b"BT /F1 12 Tf 72 720 Td 14 TL\n" + b"\n".join(shown) + b"\nET"


def image_content() -> bytes:
    """The operators that fill the page with a picture."""
    return b"q 612 0 0 792 0 0 cm /Im1 Do Q"


def pdf(*contents: bytes, unreadable: Collection[int] = ()) -> bytes:
    """A file with one page for each content stream; some may be packed in no known way."""
    first = 5
    kids = b" ".join(b"%d 0 R" % (first + 2 * at) for at in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(contents),
        _FONT,
        _PIXEL,
    ]
    for at, content in enumerate(contents):
        stream = first + 2 * at + 1
        packing = b" /Filter /Nonsense" if at + 1 in unreadable else b""
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] %s /Contents %d 0 R >>"
            % (_RESOURCES, stream),
            b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(content), packing, content),
        ]
    return _file(objects)


def pages(*texts: Sequence[str]) -> bytes:
    """A file with one page of lines for each argument."""
    return pdf(*(text_content(*lines) for lines in texts))


def rewritten(
    content: bytes,
    *,
    info: dict[str, str] | None = None,
    outline: Sequence[tuple[str, int, int]] = (),
    password: str | None = None,
    xmp: bytes | None = None,
) -> bytes:
    """The same pages with an information dictionary, (title, page, depth) bookmarks, a lock."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(content)))
    if info:
        writer.add_metadata(info)
    parents = []
    for title, page, depth in outline:
        parent = parents[depth - 2] if depth > 1 else None
        parents = [
            *parents[: depth - 1],
            writer.add_outline_item(title=title, page_number=page, parent=parent),
        ]
    if xmp is not None:
        writer.xmp_metadata = xmp
    if password is not None:
        writer.encrypt(password, owner_password="owner", algorithm="AES-256")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def _escaped(line: str) -> bytes:
    raw = line.encode("latin-1")
    for special in (b"\\", b"(", b")"):
        raw = raw.replace(special, b"\\" + special)
    return raw


def _file(objects: Sequence[bytes]) -> bytes:
    out = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    )
