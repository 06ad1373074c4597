"""Markdown to blocks, rule by rule, and texts nobody wrote by hand."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.domain import Block, BlockKind
from localdb_core.pipeline.structure import to_blocks
from localdb_core.plugin import Document


def blocks_of(markdown: str, *page_starts: tuple[int, int]) -> tuple[Block, ...]:
    return to_blocks(Document(markdown=markdown, page_starts=page_starts))


def shown(markdown: str) -> list[tuple[str, str]]:
    return [(str(block.kind), block.text) for block in blocks_of(markdown)]


@pytest.mark.req("L-PAR-20")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_front_matter_is_the_first_block(newline: str) -> None:
    text = newline.join(("---", "title: A", "tags: [x]", "---", "", "Body"))

    first, body = blocks_of(text)

    assert (first.kind, first.text) == (BlockKind.FRONTMATTER, "title: A\ntags: [x]")
    assert first.details == {"format": "yaml"}
    assert (body.text, body.seq) == ("Body", 1)


@pytest.mark.req("L-PAR-20")
def test_front_matter_may_end_the_file_and_may_be_empty() -> None:
    assert shown("---\na: 1\n---") == [("frontmatter", "a: 1")]
    assert shown("---\n---\nText") == [("text", "Text")]
    assert shown("---\nnever closed") == [("text", "never closed")]


@pytest.mark.req("L-PAR-21")
def test_headings_keep_their_level_and_lose_their_marks() -> None:
    blocks = blocks_of("# A *b* `c`\n\nSetext\n---\n\n###### [Link](x) ######")

    assert [(b.text, b.level) for b in blocks] == [("A b c", 1), ("Setext", 2), ("Link", 6)]


@pytest.mark.req("L-PAR-22")
def test_code_stays_as_it_is() -> None:
    fenced, indented, bare = blocks_of(
        "```python title=x\ndef f():\n\n    return '[^1] *a*'\n```\n\npara\n\n    in  dented\n"
        "    # no heading\n\n~~~\nx\n~~~".replace("para\n\n", "")
    )

    assert fenced.text == "def f():\n\n    return '[^1] *a*'"
    assert fenced.details == {"language": "python title=x"}
    assert (indented.text, indented.details) == ("in  dented\n# no heading", {"language": None})
    assert bare.kind is BlockKind.CODE


@pytest.mark.req("L-PAR-22", "L-PAR-25")
def test_code_within_a_list_is_a_block_of_its_own() -> None:
    assert shown("- one\n\n  ```\n  x\n  ```\n- two") == [
        ("text", "one"),
        ("code", "x"),
        ("text", "two"),
    ]


@pytest.mark.req("L-PAR-23")
def test_tables_are_rendered_again() -> None:
    (table,) = blocks_of("| a|  b |c\n|:-|:-:|-|\n|1|x\\|y|`p\\|q`|\n| only |\n")

    assert table.text == (
        "| a | b | c |\n| --- | --- | --- |\n| 1 | x\\|y | p\\|q |\n| only |  |  |"
    )
    assert table.details == {"headers": ["a", "b", "c"], "rows": 2}


@pytest.mark.req("L-PAR-24", "L-PAR-27")
def test_images_are_blocks_even_without_alt_text() -> None:
    first, second, text = blocks_of("![](a.png) ![Alt *x*](b.png)\n\nText")

    assert (first.kind, first.text, first.details["src"]) == (BlockKind.IMAGE, "", "a.png")
    assert (second.text, second.details) == ("Alt x", {"alt": "Alt x", "src": "b.png"})
    assert (text.text, text.seq) == ("Text", 2)


@pytest.mark.req("L-PAR-24")
def test_an_image_does_not_cut_its_sentence() -> None:
    assert shown("Press ![the key](k.png) twice.\n\nNext.") == [
        ("text", "Press twice."),
        ("image", "the key"),
        ("text", "Next."),
    ]


@pytest.mark.req("L-PAR-25", "L-PAR-26")
def test_running_text_is_one_block() -> None:
    text = (
        "First\nline  \nbroken.\n\n- a\n- [x] b\n  - c\n\n    d\n1. e\n\n> q1\n>\n> q2\n\n"
        "Term\n: meaning\n\n***\n\n<div>\n<b>html</b> block\n</div>\n\nLast."
    )

    assert shown(text) == [
        (
            "text",
            "First line broken.\n\na\nb\nc\nd\n\ne\n\nq1 q2\n\nTerm\nmeaning\n\nhtml block"
            "\n\nLast.",
        )
    ]


@pytest.mark.req("L-PAR-26")
@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("a `b  c` d", "a b  c d"),
        ("a ~~b~~ **c** __d__", "a b c d"),
        ("x <span class='y'>z</span> &amp; &copy;", "x z & ©"),
        ("one<br>two <br/> three", "one two three"),
        ("[text](u 't') <http://e.org> [ref]\n\n[ref]: http://x", "text http://e.org ref"),
        ("note[^1] and `[^1]`\n\n[^1]: The *note*", "note and [^1]\n\nThe note"),
        (r"\*plain\* \# 2 * 3", "*plain* # 2 * 3"),
        ("<!-- hidden -->\n\nshown <!-- too -->", "shown"),
        ("<script>\nlet x = '<p>'\n</script>\n\nshown", "shown"),
    ],
)
def test_inline_marks_vanish_and_words_stay(markdown: str, text: str) -> None:
    assert shown(markdown) == [("text", text)]


@pytest.mark.req("L-PAR-27")
def test_empty_blocks_are_left_out_and_seq_is_dense() -> None:
    blocks = blocks_of("#\n\n```\n\n```\n\n# A\n\n\n\nText\n\n- \n")

    assert [(b.seq, b.text) for b in blocks] == [(0, "A"), (1, "Text")]


@pytest.mark.req("L-PAR-28", "L-DOM-51")
def test_each_block_is_on_the_page_of_its_first_byte() -> None:
    pages = ["Über\n\ntext one\n", "# Zwei\n\ntext two\n", "| a |\n|---|\n| b |\n"]
    starts, place = [], 0
    for number, page in enumerate(pages, start=3):
        starts.append((place, number))
        place += len((page + "\n").encode())

    blocks = blocks_of("\n".join(pages), *starts)

    assert [(b.text[:8], b.page) for b in blocks] == [
        ("Über\n\nte", 3),
        ("Zwei", 4),
        ("text two", 4),
        ("| a |\n| ", 5),
    ]


@pytest.mark.req("L-DOM-51")
def test_text_before_the_first_page_is_on_it_and_running_text_keeps_its_start() -> None:
    blocks = blocks_of("\nintro\n\nmore\n\n# H\r\n\r\nend", (8, 7), (16, 8))

    assert [(b.text, b.page) for b in blocks] == [("intro\n\nmore", 7), ("H", 7), ("end", 8)]


def test_blocks_of_a_parser_are_only_numbered() -> None:
    given_blocks = [Block.text_run("# not a heading"), Block.text_run(" "), Block.code("x")]

    blocks = to_blocks(Document.of_blocks(given_blocks))

    assert [(b.seq, b.text) for b in blocks] == [(0, "# not a heading"), (1, "x")]


def test_no_text_gives_no_blocks() -> None:
    assert to_blocks(Document(markdown="\n \n")) == ()
    assert to_blocks(Document()) == ()
    assert shown("[a]: http://x\n[b]: http://y\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        ">" * 50_000,
        "*" * 50_000,
        "* " * 50_000,
        "> " * 50_000,
        "1. " * 20_000,
        "_a " * 50_000,
        "<" * 50_000,
        "![" * 10_000,
        "[a](" * 10_000,
        "`".join(map(str, range(5_000))),
        "<!--" * 20_000 + "x",
        "<div>\n" + "<!--<script>" * 20_000,
        "".join(f"{' ' * depth * 2}- a\n" for depth in range(300)),
        " " * 200_000 + "a",
        "|" * 20_000 + "\n" + "|-" * 20_000,
    ],
    ids=lambda text: text[:8],
)
def test_text_that_looks_like_endless_markup_is_read_all_the_same(text: str) -> None:
    blocks = blocks_of(text)

    letters = "".join(char for char in text if char.isalnum())
    kept = "".join(char for block in blocks for char in block.text if char.isalnum())
    if not text.startswith("<"):
        assert kept == letters


def test_a_single_line_of_five_megabytes_is_one_block() -> None:
    line = "some *words* and more " * 230_000

    (block,) = blocks_of(line)

    assert block.text == line.strip()


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab |-#>*_`[](){}<!\\\n\t&;:1.~^é漢", max_size=120))
def test_any_text_gives_dense_blocks_with_text(text: str) -> None:
    blocks = blocks_of(text)

    assert [block.seq for block in blocks] == list(range(len(blocks)))
    assert all(block.text.strip() or block.kind is BlockKind.IMAGE for block in blocks)
    assert blocks == blocks_of(text)


def test_nothing_of_this_imports_numpy() -> None:
    code = (
        "import sys\n"
        "import localdb_core.builtin.plugin, localdb_core.builtin.files\n"
        "import localdb_core.builtin.markdown, localdb_core.builtin.plaintext\n"
        "import localdb_core.builtin.chunkers.messages, localdb_core.builtin.chunkers.table\n"
        "import localdb_core.pipeline.structure, localdb_core.pipeline.chunk\n"
        "import localdb_core.pipeline.trail, localdb_core.pipeline.presets\n"
        "heavy = {'numpy', 'markdown_it', 'yaml', 'charset_normalizer'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
