import pytest
from hypothesis import given
from hypothesis import strategies as st
from localdb_pdf.markdown import escape_line, heading_line
from localdb_pdf.pages import page_markdown
from markdown_it import MarkdownIt

_READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def read_back(markdown: str) -> str:
    """The text of a single paragraph; fails when anything else was understood."""
    tokens = _READER.parse(markdown)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "softbreak", "text_special"}, children
    return "".join("\n" if c.type == "softbreak" else c.content for c in children)


@pytest.mark.req("L-PAR-10")
@pytest.mark.parametrize(
    "line",
    [
        "# of items",
        "> 5 per cent",
        "- minus sign",
        "+ plus",
        "* star",
        "12. December",
        "3) third",
        "----",
        "====",
        "***",
        "| a | b |",
        "--- | ---",
        "```python",
        "~~~",
        "~~gone~~",
        "std::vector<int> x",
        "a &lt; b &amp; c",
        "snake_case and _this_ and *that*",
        "[1](note) [^2] [3]: see",
        "C:\\*\\path\\",
        "    four spaces",
    ],
)
def test_a_line_that_looks_like_markdown_reads_back_as_it_was(line):
    markdown = "before\n" + escape_line(line)

    assert read_back(markdown) == "before\n" + line.strip()


_ODD = st.text(alphabet="ab1 .)(#>-+*_=|:~`<>&;[]!\\^/", max_size=30)


@given(lines=st.lists(_ODD, max_size=4))
def test_no_line_changes_its_words(lines):
    kept = ["start", *(line.strip() for line in lines if line.strip()), "end"]

    markdown = "\n".join(map(escape_line, kept))

    assert " ".join(read_back(markdown).split()) == " ".join(" ".join(kept).split())


def test_hashes_at_the_end_of_a_heading_stay():
    tokens = _READER.parse(heading_line("Learning C #", level=9))

    assert tokens[0].tag == "h6"
    assert "".join(child.content for child in tokens[1].children) == "Learning C #"


_MARKS = st.sampled_from(
    ["```", "~~~", "````", "    x", "\tx", "word", "It is so.", "", "- a", "> b"]
)


@pytest.mark.req("L-PAR-35")
@given(lines=st.lists(_MARKS, max_size=8))
def test_no_page_becomes_code_so_there_is_no_fence_to_take_from_prose(lines):
    tokens = _READER.parse(page_markdown("\n".join(lines), ()))

    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    words = " ".join(token.content for token in tokens if token.type == "inline")
    assert words.replace("\\", "").split() == " ".join(lines).split()
