"""How much work a text is for the Markdown reader, counted, and what happens beyond."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from localdb_core.domain import Block, BlockKind
from localdb_core.pipeline import commonmark
from localdb_core.pipeline.commonmark import engine
from localdb_core.pipeline.structure import LONGEST_HEADING, structure_of, to_blocks
from localdb_core.plugin import Document

# Each makes a text of about so many characters. From CommonMark's own list of what
# readers choke on, and what has been slow here.
HOSTILE: dict[str, Callable[[int], str]] = {
    "brackets": lambda size: "[" * size,
    "brackets in paragraphs": lambda size: ("[" * 198 + "\n\n") * (size // 200),
    "links not closed": lambda size: "[a](" * (size // 4),
    "images in links": lambda size: "[![" * (size // 3),
    "parentheses": lambda size: "(" * size,
    "backticks": lambda size: "`" * size,
    "backticks of every length": lambda size: " ".join("`" * n for n in range(int(size**0.5))),
    "underscores": lambda size: "_" * size,
    "emphasis not closed": lambda size: "*a _b " * (size // 6),
    "strikethrough": lambda size: "~~a" * (size // 3),
    "comments not closed": lambda size: "a <!-- " * (size // 7),
    "tags not closed": lambda size: "<a " * (size // 3),
    "html blocks": lambda size: "<div>\n\n" * (size // 7),
    "entities": lambda size: "&" * size,
    "backslashes": lambda size: "\\" * size,
    "definitions": lambda size: "".join(f"[a{n}]: /x\n" for n in range(size // 10)),
    "definitions not closed": lambda size: "[a\n" * (size // 3),
    "footnotes": lambda size: "".join(f"[^{n}]: x\n" for n in range(size // 10)),
    "definition lists": lambda size: "a\n: b\n" * (size // 6),
    "headings": lambda size: "# h\n" * (size // 4),
    "underlines": lambda size: "h\n=\n" * (size // 4),
    "flat list": lambda size: "- a\n" * (size // 4),
    "loose list": lambda size: "1. a\n\n" * (size // 6),
    "quotes": lambda size: "> a\n" * (size // 4),
    "deep quotes": lambda size: "\n".join(">" * (n % 38 + 1) + " a" for n in range(size // 20)),
    "paragraph under deep quotes": lambda size: ">" * 38 + " a\n" + "b\n" * (size // 2),
    "paragraph under deep lists": lambda size: "- " * 30 + "a\n" + "b\n" * (size // 2),
    "table": lambda size: "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * (size // 10),
    "tables": lambda size: "| a |\n|---|\n| 1 |\n\n" * (size // 20),
    "rules of tables": lambda size: "a | b\n-|\n" * (size // 9),
    "fences": lambda size: "```\nx\n```\n" * (size // 10),
    "fences that are none": lambda size: "``` `\n" * (size // 6),
    "indented code": lambda size: "    a\n\n" * (size // 7),
    "lines of one letter": lambda size: "a\n" * (size // 2),
    "white space": lambda size: " \n" * (size // 2),
}


def function_calls(text: str) -> int:
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    engine()
    sys.setprofile(count)
    try:
        structure_of(Document(markdown=text))
    finally:
        sys.setprofile(None)
    return calls


@pytest.fixture
def few_free_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small texts show what large ones cost."""
    monkeypatch.setattr(commonmark, "FREE_VISITS", 500)


@pytest.mark.usefixtures("few_free_visits")
@pytest.mark.parametrize("shape", HOSTILE)
def test_twice_the_text_is_about_twice_the_work(shape: str) -> None:
    little, much = (function_calls(HOSTILE[shape](size)) for size in (1_200, 2_400))

    assert much <= 2.6 * little + 500
    assert much <= 250 * 2_400


def test_a_text_that_is_too_much_work_is_cut_at_blank_lines_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commonmark, "FREE_VISITS", 100)
    text = "# H\n\n" + ">" * 38 + " a\n" + "b\n" * 500 + "\nend"

    structure = structure_of(Document(markdown=text))

    (block,) = structure.blocks
    assert block.text.startswith("# H\n\n>>>")
    assert block.text.endswith("b\n\nend")
    assert structure.problem == "read without structure: nested too deep for so long a text"


@pytest.mark.parametrize(
    "text",
    [">" * 10_000 + " a", "- " * 10_000 + "a", "1. " * 10_000 + "a", "> - " * 5_000 + "a"],
)
def test_ten_thousand_quotes_or_lists_within_each_other_keep_their_words(text: str) -> None:
    structure = structure_of(Document(markdown=f"# Title\n\n{text}\n\nend"))

    assert structure.problem == "read without structure: nested 40 deep"
    assert structure.blocks[-1].text.endswith("a\n\nend")


def test_a_text_longer_than_the_reader_takes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commonmark, "LONGEST", 2 * 1024**2)

    structure = structure_of(Document(markdown="# h\n\n" + "a " * 1024**2))

    assert structure.problem == "read without structure: longer than 2 MiB"


def test_ordinary_nesting_is_far_from_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commonmark, "FREE_VISITS", 0)
    mail = "\n".join(f"{'> ' * (n % 6)}line {n} of a long thread" for n in range(300))
    outline = "".join(f"{'  ' * (n % 6)}- point {n}\n" for n in range(300))

    assert structure_of(Document(markdown=mail)).problem is None
    assert structure_of(Document(markdown=outline)).problem is None


@pytest.mark.req("L-PAR-21", "L-CHK-20")
def test_many_headings_and_many_rows_are_all_there() -> None:
    headings = to_blocks(Document(markdown="".join(f"# h{n}\n" for n in range(2_000))))
    (table,) = to_blocks(Document(markdown="|a|\n|-|\n" + "|1|\n" * 2_000))

    assert [block.text for block in headings[::1_999]] == ["h0", "h1999"]
    assert table.details["rows"] == 2_000


@pytest.mark.req("L-PAR-21")
def test_a_heading_of_a_thousand_words_is_running_text() -> None:
    long = "word " * LONGEST_HEADING

    from_markdown = to_blocks(Document(markdown=f"# {long}\n\nText"))
    from_parser = to_blocks(Document.of_blocks([Block.heading(long, level=2, page=3)]))

    assert [block.kind for block in from_markdown] == [BlockKind.TEXT, BlockKind.TEXT]
    assert (from_parser[0].kind, from_parser[0].page) == (BlockKind.TEXT, 3)


def test_a_paragraph_with_hundreds_of_links_keeps_its_words() -> None:
    (block,) = to_blocks(Document(markdown="[a](b) " * 350))
    (beyond,) = to_blocks(Document(markdown="[a](b) " * 450))

    assert block.text == ("a " * 350).strip()
    assert beyond.text == ("[a](b) " * 450).strip()
