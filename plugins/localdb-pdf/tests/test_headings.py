import pytest
from localdb_pdf.headings import Bookmark, find_headings, may_be_heading


@pytest.mark.req("L-PAR-34")
@pytest.mark.parametrize(
    "text",
    [
        "A" * 201,
        "Two\nlines",
        "It rained. Then it stopped.",
        "The following parts,",
        "Item one;",
        "Unfinished -",
        "Unfinished \N{EM DASH}",
        "The annex (",
        "The history of",
        "Notes From",
        "lower case start",
        "$ make install",
        "./configure --prefix",
        "HOME=/root",
        "",
    ],
)
def test_a_line_that_cannot_be_a_heading_stays_text(text):
    assert not may_be_heading(text)


@pytest.mark.req("L-PAR-34")
@pytest.mark.parametrize(
    "text",
    ["Introduction", "1. Introduction", "2.3 The Mill", "What is a mill?", "Dr. Faust", "日本語"],
)
def test_an_ordinary_title_may_be_a_heading(text):
    assert may_be_heading(text)


def test_each_bookmark_takes_a_line_of_its_own():
    lines = ["Summary", "text", "Summary", "text"]

    found = find_headings(lines, [Bookmark("Summary", 1), Bookmark("SUMMARY", 2)])

    assert dict(found) == {0: (1, "Summary", 1), 2: (1, "Summary", 2)}


def test_spaces_lost_in_the_page_do_not_hide_a_title():
    found = find_headings(["TheMill Wheel"], [Bookmark("The Mill\N{NO-BREAK SPACE}Wheel", 1)])

    assert dict(found) == {0: (1, "TheMill Wheel", 1)}
