"""Write the five binary documents of the bookshelf: PDF, EPUB, DOCX, PPTX and XLSX.

    python examples/bookshelf/make.py [FOLDER]

Only the standard library, and the same bytes on every machine: dates are fixed and
nothing is compressed, because zlib's output differs between its versions.
"""

from __future__ import annotations

import sys
import textwrap
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

import contents
import office
from office import XML

DOCUMENTS: Final = Path(__file__).parent / "documents"
_DATE: Final = (2024, 5, 2, 9, 0, 0)


def make(folder: Path) -> list[Path]:
    """Write all five into a folder; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reading-room-lease.pdf").write_bytes(_pdf())
    archives = {
        "beekeeping.epub": _epub(),
        "bicycle-repair.docx": office.docx(),
        "volunteers-evening.pptx": office.pptx(),
        "catalogue.xlsx": office.xlsx(),
    }
    for name, parts in archives.items():
        _zip(folder / name, parts)
    return [folder / name for name in ("reading-room-lease.pdf", *archives)]


def _zip(path: Path, parts: Mapping[str, str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, date_time=_DATE)
            entry.create_system = 3  # the same on Windows
            archive.writestr(entry, text.encode())


# PDF: one font, one content stream for each page, an outline for the headings.


def _pdf() -> bytes:
    pages = contents.LEASE_PAGES
    words = dict(contents.LEASE)
    first_page, first_mark = 5, 5 + 2 * len(pages)
    headings = [(page, heading) for page, names in enumerate(pages) for heading in names]
    kids = " ".join(f"{first_page + 2 * n} 0 R" for n in range(len(pages)))
    last_mark = first_mark + len(headings) - 1
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Type /Outlines /First {first_mark} 0 R /Last {last_mark} 0 R"
        f" /Count {len(headings)} >>",
    ]
    for number, names in enumerate(pages):
        stream = _pdf_page([(name, words[name]) for name in names], first=number == 0)
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            " /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {first_page + 2 * number + 1} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
    for number, (page, heading) in enumerate(headings):
        own = first_mark + number
        around = f" /Prev {own - 1} 0 R" if number else ""
        around += f" /Next {own + 1} 0 R" if own < last_mark else ""
        objects.append(
            f"<< /Title ({_pdf_text(heading)}) /Parent 4 0 R{around}"
            f" /Dest [{first_page + 2 * page} 0 R /Fit] >>"
        )
    objects.append(
        f"<< /Title ({_pdf_text(contents.LEASE_TITLE)}) /Author (Harbour Trust)"
        " /CreationDate (D:20230301090000Z) >>"
    )
    return _pdf_file([text.encode("cp1252") for text in objects])


def _pdf_page(sections: Iterable[tuple[str, tuple[str, ...]]], *, first: bool) -> str:
    lines = ["BT", "/F1 11 Tf", "72 770 Td", "15 TL"]
    if first:
        lines += ["/F1 16 Tf", f"({_pdf_text(contents.LEASE_TITLE)}) Tj T* T*", "/F1 11 Tf"]
        lines += _pdf_paragraph(contents.LEASE_SIGNED)
    for heading, paragraphs in sections:
        lines += ["/F1 13 Tf", f"({_pdf_text(heading)}) Tj T* T*", "/F1 11 Tf"]
        for paragraph in paragraphs:
            lines += _pdf_paragraph(paragraph)
    return "\n".join([*lines, "ET"])


def _pdf_paragraph(text: str) -> list[str]:
    return [*(f"({_pdf_text(line)}) Tj T*" for line in textwrap.wrap(text, 84)), "T*"]


def _pdf_text(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _pdf_file(objects: list[bytes]) -> bytes:
    file = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    file += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (
        len(objects) + 1,
        len(objects),
    )
    return bytes(file + b"startxref\n%d\n%%%%EOF\n" % start)


# EPUB: a package, a table of contents and one page for each chapter.


def _epub() -> dict[str, str]:
    names = [f"chapter-{n}.xhtml" for n in range(1, len(contents.BOOK) + 1)]
    manifest = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(names, 1)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(1, len(names) + 1))
    links = "".join(
        f'<li><a href="{name}">{escape(heading)}</a></li>'
        for name, (heading, _) in zip(names, contents.BOOK, strict=True)
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": XML
        + '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="book/package.opf"'
        ' media-type="application/oebps-package+xml"/></rootfiles></container>',
        "book/package.opf": XML
        + '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:identifier id="id">urn:uuid:6d0f4c1e-6a0b-4b57-9a55-1b3d2a7c8e10</dc:identifier>'
        f"<dc:title>{escape(contents.BOOK_TITLE)}</dc:title>"
        "<dc:creator>Ines Marlow</dc:creator><dc:language>en</dc:language>"
        '<meta property="dcterms:modified">2024-05-02T09:00:00Z</meta></metadata>'
        '<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml"'
        f' properties="nav"/>{manifest}</manifest><spine>{spine}</spine></package>',
        "book/nav.xhtml": _xhtml(
            "Contents",
            '<nav xmlns:epub="http://www.idpf.org/2007/ops" epub:type="toc">'
            f"<ol>{links}</ol></nav>",
        ),
    }
    for name, (heading, paragraphs) in zip(names, contents.BOOK, strict=True):
        body = f"<h1>{escape(heading)}</h1>" + "".join(f"<p>{escape(p)}</p>" for p in paragraphs)
        parts[f"book/{name}"] = _xhtml(heading, body)
    return parts


def _xhtml(title: str, body: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
        f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{escape(title)}</title></head>'
        f"<body>{body}</body></html>"
    )


if __name__ == "__main__":
    for path in make(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS):
        print(path, path.stat().st_size)
