"""Office files as they are found, and files that mean harm."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape as xml_escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from localdb_office.config import OfficeConfig
from localdb_office.delimited import read_csv
from localdb_office.markdown import escape, pipe_table
from pydantic import ValidationError

from localdb_core.domain import ExtractionFailed, LocaldbError, UnsupportedFormat
from localdb_core.plugin import Declined, Document, ParseResult, no_progress
from localdb_core.testing.parser import build_parser, find_parser_spec, parse_bytes, probe_of

SPEC = find_parser_spec("office/office")
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STRICT = 'xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"'


def read(content: bytes, folder: Path, *, name: str, **options: int) -> ParseResult:
    parser = build_parser("office/office", SPEC, settings=options)
    return parse_bytes(parser, content, name=name, folder=folder)


def document(content: bytes, folder: Path, *, name: str, **options: int) -> Document:
    result = read(content, folder, name=name, **options)
    assert isinstance(result, Document)
    assert result.markdown is not None
    return result


def archive(parts: dict[str, str | bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return stream.getvalue()


def word(body: str, *, namespace: str = WORD, **parts: str) -> bytes:
    """A Word file of this body; ``styles`` and ``numbering`` are further parts."""
    relations = "".join(
        f'<Relationship Id="r{n}" Type="http://x/{kind}" Target="{kind}.xml"/>'
        for n, kind in enumerate(parts)
    )
    files = {
        "word/document.xml": f"<w:document {namespace}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": f"<Relationships>{relations}</Relationships>",
    }
    files |= {
        f"word/{kind}.xml": f"<w:{kind} {namespace}>{inner}</w:{kind}>"
        for kind, inner in parts.items()
    }
    return archive(files)


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{xml_escape(text)}</w:t></w:r></w:p>"


def workbook(fill: Callable) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    fill(book)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


@pytest.mark.req("L-PAR-12")
@pytest.mark.parametrize("namespace", [WORD, STRICT])
def test_word_headings_follow_style_inheritance_and_outline_levels(
    namespace: str, tmp_path: Path
) -> None:
    styles = (
        '<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
        '<w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="Mine"><w:name w:val="My head"/><w:basedOn w:val="H2"/></w:style>'
        '<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>'
    )
    body = (
        paragraph("Report", '<w:pStyle w:val="T"/>')
        + paragraph("Part", '<w:pStyle w:val="Mine"/>')
        + paragraph("Deep", '<w:outlineLvl w:val="3"/>')
        + paragraph("Plain", '<w:pStyle w:val="Loop"/>')
    )

    result = document(word(body, namespace=namespace, styles=styles), tmp_path, name="a.docx")

    assert result.markdown == "# Report\n\n## Part\n\n#### Deep\n\nPlain"
    assert result.metadata.title == "Report"


@pytest.mark.req("L-PAR-12")
def test_word_lists_keep_their_nesting_and_numbers(tmp_path: Path) -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="7">'
        '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    )

    def item(text: str, level: int) -> str:
        number = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
        return paragraph(text, number)

    body = item("a", 0) + item("b", 1) + item("c", 0) + paragraph("end") + item("d", 0)

    result = document(word(body, numbering=numbering), tmp_path, name="a.docx")

    assert result.markdown == "3. a\n    - b\n4. c\n\nend\n\n5. d"


@pytest.mark.req("L-PAR-12")
def test_word_tables_stand_where_they_are_with_merged_cells_empty(tmp_path: Path) -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"

    rows = (
        "<w:tr>" + cell("a|b", '<w:gridSpan w:val="2"/>') + cell("c") + "</w:tr>"
        "<w:tr>" + cell("d", '<w:vMerge w:val="restart"/>') + cell("e") + cell("f") + "</w:tr>"
        "<w:tr>" + cell("gone", "<w:vMerge/>") + cell("g") + "</w:tr>"
    )
    body = paragraph("before") + f"<w:tbl>{rows}</w:tbl>" + paragraph("after")

    result = document(word(body), tmp_path, name="a.docx")

    assert result.markdown is not None
    assert result.markdown.split("\n") == [
        "before",
        "",
        r"| a\|b |  | c |",
        "| --- | --- | --- |",
        "| d | e | f |",
        "|  | g |  |",
        "",
        "after",
    ]


def test_word_text_boxes_notes_and_accepted_changes_are_read(tmp_path: Path) -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        '<w:r><w:footnoteReference w:id="2"/></w:r>'
        f"<w:r><w:txbxContent>{paragraph('boxed')}</w:txbxContent></w:r></w:p>"
    )
    notes = f'<w:footnote w:id="2">{paragraph("the note")}</w:footnote>'

    result = document(word(body, footnotes=notes), tmp_path, name="a.docx")

    assert result.markdown == "new\\[1\\]\n\nboxed\n\n\\[1\\] the note"


@pytest.mark.req("L-PAR-12")
def test_slides_come_in_order_with_groups_tables_and_pages(tmp_path: Path) -> None:
    import pptx
    from pptx.util import Inches

    deck = pptx.Presentation()
    for number in (1, 2):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = f"Title {number}"
        inner = slide.shapes.add_group_shape().shapes.add_group_shape().shapes
        inner.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = f"Grouped {number}"
        table = slide.shapes.add_table(1, 2, 0, 0, Inches(2), Inches(1)).table
        table.cell(0, 0).text, table.cell(0, 1).text = "x|y", "z"
    stream = io.BytesIO()
    deck.save(stream)

    calls: list[tuple[int, int | None]] = []
    path = tmp_path / "deck.pptx"
    path.write_bytes(stream.getvalue())
    parser = build_parser("office/office", SPEC)
    result = parser.parse(
        path,
        probe_of(path.name, stream.getvalue()),
        lambda done, total=None, /: calls.append((done, total)),
    )

    assert isinstance(result, Document)
    text = result.markdown or ""
    assert [text.index(part) for part in ("## Title 1", "Grouped 1", r"| x\|y | z |")] == sorted(
        text.index(part) for part in ("## Title 1", "Grouped 1", r"| x\|y | z |")
    )
    assert [page for _, page in result.page_starts] == [1, 2]
    assert text.encode()[result.page_starts[1][0] :].startswith(b"## Title 2")
    assert result.metadata.extra["page_count"] == 2
    assert calls == [(1, 2), (2, 2)]


@pytest.mark.req("L-PAR-12")
@pytest.mark.req("L-BYD-17")
def test_sheets_become_tables_and_empty_and_chart_sheets_are_skipped(tmp_path: Path) -> None:
    import datetime

    from openpyxl.chart import BarChart, Reference

    def fill(book) -> None:
        sheet = book.active
        sheet.title = "Data"
        sheet["B2"] = "Ships of the year"
        sheet.append([None, "Name", None, "Day", "Tons"])
        sheet.append([None, "A\nda", None, datetime.datetime(2024, 5, 1), 900.0])
        sheet.append([None, "Bob", None, True, 0.5])
        book.create_sheet("Nothing")
        chart = BarChart()
        chart.add_data(Reference(sheet, min_col=5, min_row=3, max_row=5))
        book.create_chartsheet("Picture").add_chart(chart)

    result = document(workbook(fill), tmp_path, name="a.xlsx")

    assert result.markdown == (
        "## Data\n\nShips of the year\n\n| Name | Day | Tons |\n| --- | --- | --- |\n"
        "| A da | 2024-05-01 | 900 |\n| Bob | TRUE | 0.5 |"
    )


@pytest.mark.req("L-BYD-17")
def test_rows_beyond_the_cap_are_left_out_with_a_warning(tmp_path: Path) -> None:
    def fill(book) -> None:
        for number in range(10):
            book.active.append([number, "x"])

    for name, content in (
        ("a.xlsx", workbook(fill)),
        ("a.csv", b"".join(b"%d,x\n" % number for number in range(10))),
    ):
        result = document(content, tmp_path, name=name, max_rows=4)

        assert "| 3 | x |" in (result.markdown or "")
        assert "| 4 | x |" not in (result.markdown or "")
        assert "only the first 4 rows" in result.warnings[0]


@pytest.mark.req("L-PAR-16")
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_delimiters_and_encodings_are_found(
    delimiter: str, encoding: str, tmp_path: Path
) -> None:
    rows = [["Straße", "Größe, gemessen"], ["Königsallee", "1,5"], ["Überführung", "2"]] * 4
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows(rows)

    result = document(stream.getvalue().encode(encoding), tmp_path, name="a.csv")

    assert "| Königsallee | 1,5 |" in (result.markdown or "")


def test_ragged_rows_huge_fields_and_nul_bytes_are_survived(tmp_path: Path) -> None:
    content = b"a,b,c\n1\n\n" + b'"' + b"x" * 300_000 + b'",2\n3,4\x00,5\n'

    lines = (document(content, tmp_path, name="a.csv").markdown or "").splitlines()

    assert lines[2] == "| 1 |  |  |"
    assert len(lines[3]) > 300_000
    assert lines[4] == "| 3 | 4 | 5 |"


def test_an_empty_csv_is_an_empty_document(tmp_path: Path) -> None:
    assert document(b"", tmp_path, name="a.csv").markdown == ""


def test_a_binary_file_called_csv_is_declined(tmp_path: Path) -> None:
    assert isinstance(read(bytes(range(1, 32)) * 100, tmp_path, name="a.csv"), Declined)


@pytest.mark.req("L-PAR-12")
@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx"])
@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04 garbage"])
def test_a_broken_file_fails_and_names_its_extension(
    name: str, content: bytes, tmp_path: Path
) -> None:
    with pytest.raises(ExtractionFailed, match=f"office/{name[2:]}"):
        read(content, tmp_path, name=name)


def test_a_password_or_a_legacy_format_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormat, match="password-protected or of a format before 2007"):
        read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), tmp_path, name="a.docx")


def test_other_archives_are_declined(tmp_path: Path) -> None:
    assert isinstance(read(archive({"mimetype": "x"}), tmp_path, name="a.docx"), Declined)


def test_the_content_decides_when_the_name_lies(tmp_path: Path) -> None:
    result = document(word(paragraph("words")), tmp_path, name="a.xlsx")

    assert result.markdown == "words"
    assert (result.metadata.format or "").endswith("wordprocessingml.document")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = archive({"word/document.xml": b"<a>" + bytes(101 << 20)})

    with pytest.raises(ExtractionFailed, match="that is no document"):
        read(bomb, tmp_path, name="a.docx")


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("a.docx", "word/document.xml"),
        ("a.pptx", "ppt/presentation.xml"),
        ("a.xlsx", "xl/workbook.xml"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_never_expanded(name: str, part: str, encoding: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("top secret")
    bomb = (
        f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">'
        '<!ENTITY b "&x;&x;&x;&x;&x;&x;&x;&x;&x;">]><a>&b;</a>'
    ).encode(encoding)

    with pytest.raises(ExtractionFailed, match="document type"):
        read(archive({part: bomb}), tmp_path, name=name)


def test_entities_behind_a_long_comment_stay_unexpanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("top secret")
    part = (
        f"<!--{'x' * 9000}--><!DOCTYPE a [<!ENTITY x SYSTEM '{secret.as_uri()}'>]>"
        f"<w:document {WORD}><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>"
    )

    result = document(archive({"word/document.xml": part}), tmp_path, name="a.docx")

    assert "secret" not in (result.markdown or "")


def test_settings_forbid_unknown_keys() -> None:
    with pytest.raises(ValidationError):
        OfficeConfig.model_validate({"max_row": 3})


@settings(deadline=None)
@given(content=st.binary(max_size=400))
def test_any_bytes_called_csv_give_an_answer(content: bytes, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(content)

    result = read_csv(path, no_progress, max_rows=10, suffix=".csv")

    assert result is None or isinstance(result[0], str)


@settings(deadline=None)
@given(rows=st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_table_has_as_many_cells_in_every_row(rows: list[list[str]]) -> None:
    lines = pipe_table(rows).split("\n")

    assert len(lines) == len(rows) + 1
    counts = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}
    assert len(counts) == 1


@settings(deadline=None)
@given(text=st.text(max_size=40))
def test_escaped_text_reads_back_as_it_was(text: str) -> None:
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(escape(text))
    plain = "".join(t.content for token in tokens for t in token.children or ())

    kept = "".join(c for c in text if c.isprintable() or c.isspace())
    if kept == text and text.isprintable():
        assert plain.split() == text.split()


@settings(deadline=None, max_examples=50)
@given(cut=st.integers(0, 2000), value=st.integers(0, 255))
def test_a_changed_byte_never_crashes_the_parser(cut: int, value: int, tmp_path_factory) -> None:
    content = bytearray(word(paragraph("words"), styles="", numbering=""))
    content[cut % len(content)] = value

    faults: list[str] = []
    try:
        read(bytes(content), tmp_path_factory.mktemp("flip"), name="a.docx")
    except LocaldbError as error:
        faults.append(str(error))

    assert all("office/docx" in fault for fault in faults)
