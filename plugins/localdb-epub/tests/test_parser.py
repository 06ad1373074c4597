import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from epub_files import encryption, epub, xhtml
from localdb_epub import archive
from localdb_epub.parser import build

from localdb_core.domain import ExtractionFailed, UnsupportedFormat
from localdb_core.plugin import Declined, Document, PluginContext, Probe, no_progress

TEXT = xhtml("<p>It turns.</p>")
NAV_ITEM = (
    '<item id="nav" href="toc/nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
)
NCX_ITEM = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'


def answer(folder: Path, content: bytes, *, progress=no_progress):
    path = folder / "book.epub"
    path.write_bytes(content)
    probe = Probe(path.name, head=content[:8192])
    return build(PluginContext(plugin="epub")).parse(path, probe, progress)


def parse(folder: Path, content: bytes, **options) -> Document:
    result = answer(folder, content, **options)
    assert isinstance(result, Document), result
    return result


@pytest.mark.req("L-PAR-11")
def test_chapters_come_in_spine_order_and_once_each(tmp_path):
    chapters = {name: xhtml(f"<p>This is {name}.</p>") for name in ("a", "b", "c")}

    document = parse(tmp_path, epub(chapters, spine=["c", "a", "b", "a"]))

    assert document.markdown == "This is c.\n\nThis is a.\n\nThis is b.\n"


@pytest.mark.req("L-PAR-11")
def test_structure_becomes_markdown_and_scripts_do_not(tmp_path):
    body = (
        "<script>alert(1)</script><h2>Parts</h2><ol><li>wheel</li></ol><pre>x = 1</pre>"
        "<table><tr><th>a</th></tr><tr><td>1</td></tr></table><p># not a heading</p>"
    )

    document = parse(tmp_path, epub({"a": xhtml(body, head="<title>T</title><style>p{}</style>")}))

    assert document.markdown == (
        "## Parts\n\n1. wheel\n\n```\nx = 1\n```\n\n| a |\n| --- |\n| 1 |\n\n\\# not a heading\n"
    )


def test_pictures_leave_their_alternative_text_and_inner_links_their_words(tmp_path):
    body = (
        '<p><img src="data:image/png;base64,AAAA" alt="A wheel"/><img src="line.png"/>'
        '<a href="b.xhtml#x">next</a> <a href="https://example.org/">web</a></p>'
    )

    document = parse(tmp_path, epub({"a": xhtml(body)}))

    assert document.markdown == "A wheelnext [web](https://example.org/)\n"


@pytest.mark.req("L-PAR-11")
def test_the_package_gives_the_metadata(tmp_path):
    metadata = parse(tmp_path, epub({"a": TEXT})).metadata

    assert metadata.title == "The Mill"
    assert metadata.creator == ("Ada", "Bea")
    assert metadata.subject == ("Mills",)
    assert metadata.description == "About wheels & water"
    assert metadata.publisher == "First House"
    assert metadata.contributor == ("Cleo",)
    assert metadata.date == "2024-01-31"
    assert metadata.identifier == "urn:isbn:123"
    assert metadata.language == "en-GB"
    assert metadata.rights == "CC0"
    assert metadata.format == "application/epub+zip"


def test_a_book_that_says_nothing_about_itself_is_read(tmp_path):
    metadata = parse(tmp_path, epub({"a": TEXT}, metadata="<dc:title> </dc:title>")).metadata

    assert metadata.title is None
    assert metadata.identifier is None


@pytest.mark.req("L-PAR-11")
def test_a_bad_chapter_is_skipped_with_a_warning(tmp_path):
    content = epub({"a": TEXT, "b": TEXT, "c": "\x00\x01 no markup"}, missing=["OPS/b"])

    document = parse(tmp_path, content)

    assert document.markdown == "It turns.\n"
    assert document.warnings == (
        "could not read 2 chapters: b (not in the zip file), c (the file is not XHTML)",
    )


def test_a_chapter_that_is_too_large_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("localdb_epub.parser.LARGEST_CHAPTER", 1000)

    document = parse(tmp_path, epub({"a": TEXT, "b": xhtml("<p>word </p>" * 100)}))

    assert document.warnings == ("could not read 1 chapter: b (larger than 1000 bytes)",)


def test_a_missing_picture_costs_nothing(tmp_path):
    content = epub({"a": TEXT}, manifest='<item id="p" href="p.png" media-type="image/png"/>')

    assert parse(tmp_path, content).warnings == ()


def test_a_chapter_without_a_heading_takes_its_title_from_the_nav(tmp_path):
    nav = xhtml(
        '<nav epub:type="toc"><ol><li><a href="../a%20b">The Wheel</a><ol>'
        '<li><a href="../c#middle">A spot</a></li><li><a href="../c">The Stone</a></li>'
        "</ol></li></ol></nav>"
    )
    chapters = {"a b": TEXT, "c": TEXT, "d": xhtml("<h3>Own</h3>")}

    document = parse(tmp_path, epub(chapters, manifest=NAV_ITEM, extra={"OPS/toc/nav.xhtml": nav}))

    assert document.markdown == (
        "# The Wheel\n\nIt turns.\n\n## The Stone\n\nIt turns.\n\n### Own\n"
    )


def test_a_chapter_without_a_heading_takes_its_title_from_the_ncx(tmp_path):
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel>'
        '<text>The Wheel</text></navLabel><content src="a"/></navPoint></navMap></ncx>'
    )

    document = parse(tmp_path, epub({"a": TEXT}, manifest=NCX_ITEM, extra={"OPS/toc.ncx": ncx}))

    assert document.markdown == "# The Wheel\n\nIt turns.\n"


def test_a_damaged_table_of_contents_costs_the_titles_only(tmp_path):
    content = epub({"a": TEXT}, manifest=NAV_ITEM, extra={"OPS/toc/nav.xhtml": "<<<"})

    assert parse(tmp_path, content).markdown == "It turns.\n"


@pytest.mark.req("L-PAR-11")
def test_a_book_of_pictures_has_no_text(tmp_path):
    with pytest.raises(ExtractionFailed, match="no text"):
        answer(tmp_path, epub({"a": xhtml('<img src="p.png" alt="Page 1"/>')}))


@pytest.mark.parametrize("marker", ["rights.xml", "license.lcpl", "sinf.xml"])
def test_a_book_with_a_licence_file_is_refused_as_copy_protected(tmp_path, marker):
    with pytest.raises(UnsupportedFormat, match="DRM"):
        answer(tmp_path, epub({"a": TEXT}, extra={f"META-INF/{marker}": "<rights/>"}))


def test_a_book_with_encrypted_chapters_is_refused_as_copy_protected(tmp_path):
    locked = encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc", target="OPS/a")

    with pytest.raises(UnsupportedFormat, match="DRM"):
        answer(tmp_path, epub({"a": TEXT}, extra={"META-INF/encryption.xml": locked}))


def test_a_book_with_obfuscated_fonts_is_read(tmp_path):
    fonts = encryption("http://www.idpf.org/2008/embedding", target="OPS/f.otf")

    document = parse(tmp_path, epub({"a": TEXT}, extra={"META-INF/encryption.xml": fonts}))

    assert document.markdown == "It turns.\n"


@pytest.mark.parametrize("name", ["META-INF/container.xml", "OPS/package.opf"])
def test_a_book_without_its_package_is_an_extraction_failure(tmp_path, name):
    with pytest.raises(ExtractionFailed, match="package cannot be read"):
        answer(tmp_path, epub({"a": TEXT}, missing=[name]))


def test_a_zip_that_is_no_book_is_declined(tmp_path):
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr("word/document.xml", "<w/>")

    assert isinstance(answer(tmp_path, out.getvalue()), Declined)


def test_a_zip_bomb_is_not_unpacked(tmp_path):
    bomb = xhtml("<p>" + "a" * 3_000_000 + "</p>")

    with pytest.raises(ExtractionFailed, match="zip bomb"):
        answer(tmp_path, epub({"a": bomb}))


def test_a_book_may_not_unpack_to_more_than_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 3000)

    document = parse(tmp_path, epub({"a": TEXT, "b": xhtml("<p>word </p>" * 200)}))

    assert "unpacks to more than 3000 bytes" in document.warnings[0]


def test_a_package_cannot_read_files_of_this_machine(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("do not show")
    bad = f'<!DOCTYPE x [<!ENTITY s SYSTEM "file://{secret}">]>' + xhtml("<p>a &s; b</p>")

    assert "do not show" not in (parse(tmp_path, epub({"a": bad})).markdown or "")


def test_progress_is_reported_for_every_chapter(tmp_path):
    seen = []

    parse(tmp_path, epub({"a": TEXT, "b": TEXT}), progress=lambda *call: seen.append(call))

    assert seen == [(1, 2), (2, 2)]
