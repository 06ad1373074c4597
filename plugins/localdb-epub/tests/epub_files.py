"""A writer of small EPUB files, so that no test needs a file from elsewhere."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OPS/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""

DUBLIN_CORE = """<dc:identifier id="other">urn:other</dc:identifier>
<dc:identifier id="uid">urn:isbn:123</dc:identifier><dc:title>The Mill</dc:title>
<dc:creator>Ada</dc:creator><dc:creator>Bea</dc:creator><dc:subject>Mills</dc:subject>
<dc:description>&lt;p&gt;About &lt;b&gt;wheels&lt;/b&gt; &amp;amp; water&lt;/p&gt;</dc:description>
<dc:publisher>First House</dc:publisher><dc:publisher>Second House</dc:publisher>
<dc:contributor>Cleo</dc:contributor><dc:date>2024-01-31</dc:date>
<dc:language>en-GB</dc:language><dc:rights>CC0</dc:rights>"""


def xhtml(body: str, *, head: str = "<title/>") -> str:
    """A chapter file."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"'
        f' xmlns:epub="http://www.idpf.org/2007/ops"><head>{head}</head><body>{body}</body></html>'
    )


def encryption(algorithm: str, *, target: str) -> str:
    """An encryption.xml that names one file."""
    return (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"'
        ' xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
        f'<e:EncryptionMethod Algorithm="{algorithm}"/><e:CipherData>'
        f'<e:CipherReference URI="{target}"/></e:CipherData></e:EncryptedData></encryption>'
    )


def epub(
    chapters: Mapping[str, str],
    *,
    metadata: str = DUBLIN_CORE,
    manifest: str = "",
    spine: Sequence[str] | None = None,
    extra: Mapping[str, str | bytes] | None = None,
    missing: Sequence[str] = (),
) -> bytes:
    """A book: file name → XHTML; ``manifest`` holds further items, ``missing`` is left out."""
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters
    )
    refs = "".join(f'<itemref idref="{name}"/>' for name in (spine or list(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="uid">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}{manifest}</manifest><spine>{refs}</spine></package>"
    )
    files = {
        "META-INF/container.xml": CONTAINER,
        "OPS/package.opf": package,
        **{f"OPS/{name}": text for name, text in chapters.items()},
        **(extra or {}),
    }
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in files.items():
            if name not in missing:
                zipped.writestr(_entry(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, (2024, 1, 31, 12, 0, 0))  # the same bytes on every run
