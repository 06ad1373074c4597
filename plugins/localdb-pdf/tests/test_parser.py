from pathlib import Path

import pytest
from localdb_pdf.parser import build
from pdf_files import image_content, pages, pdf, rewritten, text_content

from localdb_core.domain import ExtractionFailed, UnsupportedFormat
from localdb_core.plugin import Declined, Document, PluginContext, Probe, no_progress

LONG = "The quick brown fox jumps over the lazy dog."


def parse(folder: Path, content: bytes, *, progress=no_progress) -> Document:
    path = folder / "file.pdf"
    path.write_bytes(content)
    probe = Probe(path.name, head=content[:8192])
    result = build(PluginContext(plugin="pdf")).parse(path, probe, progress)
    assert isinstance(result, Document), result
    return result


@pytest.mark.req("L-PAR-10")
def test_pages_are_joined_by_a_blank_line_and_end_with_a_newline(tmp_path):
    document = parse(tmp_path, pages([LONG], ["Second page here.", "And a line."]))

    assert document.markdown == f"{LONG}\n\nSecond page here.\nAnd a line.\n"


@pytest.mark.req("L-DOM-51")
def test_page_starts_point_at_the_first_byte_of_each_page(tmp_path):
    document = parse(tmp_path, pages(["Ein Mühlrad für Übermut"], ["Zweite Seite"], ["Dritte"]))

    raw = document.markdown.encode()
    starts = [(raw[offset:].decode().split("\n")[0], page) for offset, page in document.page_starts]
    assert starts == [("Ein Mühlrad für Übermut", 1), ("Zweite Seite", 2), ("Dritte", 3)]


def test_progress_is_reported_for_every_page(tmp_path):
    seen = []

    parse(tmp_path, pages([LONG], [LONG], [LONG]), progress=lambda *call: seen.append(call))

    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.slow
def test_a_file_of_two_thousand_pages_is_read_to_the_end(tmp_path):
    seen = []
    content = pages(*([f"Page number {number}", LONG] for number in range(1, 2001)))

    document = parse(tmp_path, content, progress=lambda *call: seen.append(call))

    assert len(seen) == 2000
    assert seen[-1] == (2000, 2000)
    assert document.page_starts[-1][1] == 2000
    assert document.metadata.extra["page_count"] == 2000


@pytest.mark.req("L-PAR-31")
def test_ligatures_are_spelled_out_and_soft_hyphens_go_but_line_hyphens_stay(tmp_path):
    document = parse(
        tmp_path, pages(["O\x03er a \x01ne \x02oor to the co\xadoperative mill-", "wheel."])
    )

    assert document.markdown == "Offer a fine floor to the cooperative mill-\nwheel.\n"


@pytest.mark.req("L-PAR-32")
def test_pages_without_text_are_dropped_with_one_warning_naming_them(tmp_path):
    empty = image_content()
    document = parse(tmp_path, pdf(text_content(LONG), empty, empty, text_content(LONG), empty))

    assert [page for _, page in document.page_starts] == [1, 4]
    assert document.warnings == ("left out 3 pages without text: 2-3, 5",)


@pytest.mark.req("L-PAR-33")
def test_a_page_that_fails_is_skipped_with_a_warning(tmp_path):
    content = pdf(text_content(LONG), text_content(LONG), unreadable={2})

    document = parse(tmp_path, content)

    assert [page for _, page in document.page_starts] == [1]
    assert document.warnings[0].startswith("could not read page 2: ")


@pytest.mark.req("L-PAR-33")
def test_a_file_whose_pages_all_fail_is_an_extraction_failure(tmp_path):
    content = pdf(text_content(LONG), unreadable={1})

    with pytest.raises(ExtractionFailed, match="no page of the PDF could be read"):
        parse(tmp_path, content)


@pytest.mark.req("L-PAR-10")
def test_a_file_that_needs_a_password_is_unsupported(tmp_path):
    with pytest.raises(UnsupportedFormat, match="needs a password"):
        parse(tmp_path, rewritten(pages([LONG]), password="secret"))


def test_a_file_that_opens_with_an_empty_password_is_read(tmp_path):
    document = parse(tmp_path, rewritten(pages([LONG]), password=""))

    assert LONG in document.markdown


@pytest.mark.req("L-PAR-10")
@pytest.mark.parametrize(
    "content",
    [
        pdf(image_content()),
        pdf(image_content() + b"\n" + text_content("only 19 letters 12345")),
        pages(["* . * . " * 300 + LONG]),
        pages(["* . *"]),
    ],
    ids=["picture", "few letters on a picture", "mostly rubbish", "no letter"],
)
def test_a_file_without_a_text_layer_is_unsupported(tmp_path, content):
    with pytest.raises(UnsupportedFormat, match="text layer"):
        parse(tmp_path, content)


def test_few_letters_without_a_picture_are_all_there_is(tmp_path):
    assert "Hello" in parse(tmp_path, pages(["Hello"])).markdown


def test_rubbish_before_the_header_is_tolerated(tmp_path):
    document = parse(tmp_path, b"HTTP/1.1 200 OK\r\n\r\n" + pages([LONG]))

    assert LONG in document.markdown


def test_a_file_that_lost_its_end_is_still_read(tmp_path):
    content = pages([LONG])

    document = parse(tmp_path, content[: content.index(b"startxref")])

    assert LONG in document.markdown


def test_a_web_page_named_pdf_is_declined(tmp_path):
    path = tmp_path / "file.pdf"
    path.write_bytes(b"<html><p>404</p></html>")

    result = build(PluginContext(plugin="pdf")).parse(path, Probe(path.name), no_progress)

    assert isinstance(result, Declined)


def test_a_page_with_too_much_drawing_is_skipped_and_named(tmp_path):
    heavy = b"0 0 m 1 1 l S\n" * 400_000 + text_content("Legend")

    document = parse(tmp_path, pdf(text_content(LONG), heavy))

    assert document.warnings == ("could not read page 2: the page's content has 5600046 bytes",)


@pytest.mark.req("L-PAR-30")
def test_text_tagged_as_an_artifact_is_dropped(tmp_path):
    head = b"/Artifact << /Type /Pagination >> BDC\n" + text_content("Page 7 of 9") + b"\nEMC\n"
    body = b"/P << /MCID 0 >> BDC\n" + text_content(LONG) + b"\nEMC\n"

    document = parse(tmp_path, pdf(head + body))

    assert document.markdown == f"{LONG}\n"


@pytest.mark.req("L-PAR-30")
def test_lines_repeated_on_every_page_stay(tmp_path):
    document = parse(tmp_path, pages(["Annual report", LONG], ["Annual report", LONG]))

    assert document.markdown.count("Annual report") == 2


def test_bookmarks_become_headings_of_their_depth(tmp_path):
    content = pages(
        ["Contents", "The Mill", "The Wheel"],
        ["1 The Mill", LONG, "1.1 The", "Wheel", "It turns."],
    )
    outline = [("The Mill", 1, 1), ("The Wheel", 1, 2), ("Not on the page", 1, 1)]

    document = parse(tmp_path, rewritten(content, outline=outline))

    assert document.markdown == (
        "Contents\nThe Mill\nThe Wheel\n\n"
        f"# 1 The Mill\n\n{LONG}\n\n## 1.1 The Wheel\n\nIt turns.\n"
    )


def test_nothing_of_pypdfs_talk_reaches_the_log(tmp_path, caplog):
    content = pages([LONG])

    parse(tmp_path, content.replace(b"startxref\n", b"startxref\n9"))

    assert caplog.records == []
