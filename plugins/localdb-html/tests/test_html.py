"""Pages as they are found: content, metadata, encodings, and pages that mean harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localdb_core.plugin import Declined, Document, ParseResult, Probe
from localdb_core.testing.parser import (
    build_parser,
    find_parser_spec,
    parse_bytes,
)

SPEC = find_parser_spec("html/html")


def read(page: str | bytes, folder: Path, *, name: str = "page.html") -> ParseResult:
    content = page.encode() if isinstance(page, str) else page
    return parse_bytes(build_parser("html/html", SPEC), content, name=name, folder=folder)


def markdown(page: str | bytes, folder: Path) -> str:
    result = read(page, folder)
    assert isinstance(result, Document)
    assert result.markdown is not None
    return result.markdown


@pytest.mark.req("L-PAR-13")
def test_scripts_styles_nav_footer_and_aside_never_reach_the_text(tmp_path: Path) -> None:
    page = (
        "<body><nav>n1</nav><main><script>n2</script><style>n3</style><p>kept</p>"
        "<aside>n4</aside><footer>n5</footer></main><noscript>n6</noscript></body>"
    )

    assert markdown(page, tmp_path) == "kept"


@pytest.mark.req("L-PAR-13")
def test_every_article_follows_the_header_of_the_page(tmp_path: Path) -> None:
    page = (
        "<body><header><h1>Journal</h1></header><p>around</p>"
        "<article><p>first</p></article><article><p>second</p></article></body>"
    )

    assert markdown(page, tmp_path) == "# Journal\n\nfirst\n\nsecond"


def test_a_banner_of_links_is_no_page_header(tmp_path: Path) -> None:
    page = (
        "<body><header><a href='/'>Shop</a> <a href='/b'>Basket</a></header>"
        "<article><header><h1>Tea</h1></header><p>Green.</p></article></body>"
    )

    assert markdown(page, tmp_path) == "# Tea\n\nGreen."


@pytest.mark.req("L-PAR-13")
@pytest.mark.parametrize("tag", ["main", "div role='main'"])
def test_main_wins_over_what_surrounds_it(tag: str, tmp_path: Path) -> None:
    page = f"<body><div>menu</div><{tag}><p>content</p></{tag.split()[0]}></body>"

    assert markdown(page, tmp_path) == "content"


def test_an_article_that_holds_next_to_nothing_is_not_the_content(tmp_path: Path) -> None:
    text = "".join(f"<p>Paragraph {n} tells the story at its full length.</p>" for n in range(200))
    page = f"<body><div>{text}</div><article>Related</article></body>"

    assert "Paragraph 199 tells" in markdown(page, tmp_path)


def test_an_extracted_page_keeps_headings_lists_tables_and_code(tmp_path: Path) -> None:
    prose = "".join(
        f"<p>Sentence {n} of a long report about the harbour and the ships in it.</p>"
        for n in range(60)
    )
    page = (
        "<body><div class='menu'><a href='/a'>Menu one</a> <a href='/b'>Menu two</a></div>"
        f"<div id='text'><h2>Harbour</h2>{prose}<ul><li>tug</li><li>ferry</li></ul>"
        "<table><tr><th>Ship</th><th>Tons</th></tr><tr><td>Ada</td><td>900</td></tr></table>"
        "<pre>sail --now</pre></div></body>"
    )

    text = markdown(page, tmp_path)

    for part in ("## Harbour", "- tug\n- ferry", "| Ada | 900 |", "```\nsail --now\n```"):
        assert part in text
    assert "Sentence 59" in text


@pytest.mark.parametrize(
    ("opening", "language"),
    [
        ("<pre><code class='language-rust'>", "rust"),
        (
            "<div class='highlight-python3 notranslate'><div class='highlight'><pre><code>",
            "python3",
        ),
        ("<div class='highlight highlight-source-shell'><pre><code>", "shell"),
        ("<pre class='sourceCode haskell'><code>", "haskell"),
        ("<pre class='brush: js; gutter: false'><code>", "js"),
        ("<pre><code>", ""),
    ],
)
def test_code_keeps_its_language_and_its_lines(opening: str, language: str, tmp_path: Path) -> None:
    page = f"<body>{opening}<span>a</span> = 1\n\n  b<br>c</code></pre></body>"

    assert markdown(page, tmp_path) == f"```{language}\na = 1\n\n  b\nc\n```"


def test_a_fence_is_longer_than_any_in_the_code(tmp_path: Path) -> None:
    text = markdown("<pre>```\nx\n```</pre>", tmp_path)

    assert text == "````\n```\nx\n```\n````"


def test_tables_survive_pipes_spans_and_missing_headers(tmp_path: Path) -> None:
    page = (
        "<table><tr><td rowspan=2>a|b</td><td>c</td></tr><tr><td><code>d|e</code></td></tr>"
        "<tr></tr></table>"
    )

    lines = markdown(page, tmp_path).splitlines()

    assert lines == [r"| a\|b | c |", "| --- | --- |", r"|  | `d\|e` |"]


def test_layout_tables_dissolve(tmp_path: Path) -> None:
    page = (
        "<table><tr><td>menu</td><td><h2>News</h2><table><tr><th>x</th></tr>"
        "<tr><td>1</td></tr></table></td></tr></table>"
    )

    assert markdown(page, tmp_path) == "menu\n\n## News\n\n| x |\n| --- |\n| 1 |"


def test_text_that_looks_like_markup_stays_text(tmp_path: Path) -> None:
    text = markdown("<p>use &lt;name&gt; * and # here</p><hr><p>---</p>", tmp_path)

    assert text == "use \\<name\\> \\* and \\# here\n\n***\n\n\\---"


def test_links_keep_their_address_and_embedded_pictures_vanish(tmp_path: Path) -> None:
    page = (
        "<p><a href='https://example.org/a b'>far</a> <a href='javascript:x()'>run</a>"
        "<img src='data:image/png;base64,AAAA' alt='dot'> <img src='pic.png' alt='Pic'></p>"
    )

    text = markdown(page, tmp_path)

    assert text == "[far](https://example.org/a%20b) rundot ![Pic](pic.png)"


def test_hidden_parts_are_left_out_unless_nothing_else_is_there(tmp_path: Path) -> None:
    assert markdown("<p>seen</p><p hidden>unseen</p>", tmp_path) == "seen"
    assert markdown("<div style='display:none'><p>all</p></div>", tmp_path) == "all"


def test_formulas_are_written_as_tex(tmp_path: Path) -> None:
    page = (
        "<p>So <span><span style='display: none'><math><mi>x</mi>"
        "<annotation encoding='application/x-tex'>x^2</annotation></math></span>"
        "<img aria-hidden='true' src='x.svg' alt='x^2'></span> grows.</p>"
    )

    assert markdown(page, tmp_path) == "So $x^2$ grows."


@pytest.mark.req("L-PAR-13")
def test_metadata_comes_from_meta_open_graph_and_linked_data(tmp_path: Path) -> None:
    page = """<html lang="de"><head><title> Ein
      Titel </title><meta name="author" content="Ada"><meta name="keywords" content="a, b;c">
      <meta property="og:description" content="Kurz"><meta property="og:site_name" content="Blatt">
      <meta property="article:published_time" content="2024-03-05T10:00:00Z"></head>
      <body><p>Text</p></body></html>"""

    result = read(page, tmp_path)

    assert isinstance(result, Document)
    meta = result.metadata
    assert (meta.title, meta.creator, meta.subject) == ("Ein Titel", ("Ada",), ("a", "b", "c"))
    assert (meta.description, meta.publisher) == ("Kurz", "Blatt")
    assert (meta.date, meta.language, meta.format) == ("2024-03-05", "de", "text/html")


def test_linked_data_fills_what_meta_leaves_open(tmp_path: Path) -> None:
    page = """<html><head><script type="application/ld+json">{"@graph": [{"@type": "NewsArticle",
      "headline": "Head", "author": [{"name": "Bo"}, {"name": "Cy"}], "inLanguage": "fr",
      "datePublished": "2020-01-02", "publisher": {"name": "Press"}}]}</script>
      <script type="application/ld+json">{broken</script></head><body>x</body></html>"""

    result = read(page, tmp_path)

    assert isinstance(result, Document)
    meta = result.metadata
    assert (meta.title, meta.creator, meta.language) == ("Head", ("Bo", "Cy"), "fr")
    assert (meta.date, meta.publisher) == ("2020-01-02", "Press")


def test_without_a_title_element_the_first_heading_is_the_title(tmp_path: Path) -> None:
    result = read("<body><h1>Only <i>this</i></h1></body>", tmp_path)

    assert isinstance(result, Document)
    assert result.metadata.title == "Only this"


@pytest.mark.req("L-PAR-18")
@pytest.mark.parametrize(
    "content",
    [
        "<p>żółw</p>".encode("utf-8-sig"),
        "<p>żółw</p>".encode("utf-16"),
        b"<meta charset=iso-8859-2>" + "<p>żółw</p>".encode("iso-8859-2"),
        b"<meta charset=iso-8859-1>" + "<p>żółw</p>".encode(),
        b'<?xml version="1.0" encoding="cp1250"?>' + "<html><p>żółw</p></html>".encode("cp1250"),
        b"<meta charset=nonsense>" + "<p>żółw</p>".encode(),
        b"<meta charset=utf-16>" + "<p>żółw</p>".encode(),
    ],
)
def test_the_encoding_is_found(content: bytes, tmp_path: Path) -> None:
    assert markdown(content, tmp_path) == "żółw"


def test_one_damaged_byte_does_not_change_the_encoding(tmp_path: Path) -> None:
    page = "<p>żółw</p>".encode() * 500 + b"\xff"

    assert "żółw" in markdown(page, tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "accepted"),
    [
        ("feed.xml", b"<?xml version='1.0'?><rss><channel/></rss>", False),
        ("pic.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", False),
        ("book.dbk", b"<!-- a --><book><title>x</title></book>", False),
        ("README.md", b"<h1 align=center>Project</h1>", False),
        ("page", b"<!-- saved --><!DOCTYPE HTML><title>x</title><p>y", True),
        ("page.php", b"<?xml version='1.0'?>\n<html><body>y</body></html>", True),
    ],
)
def test_other_markup_is_declined(
    name: str, content: bytes, accepted: bool, tmp_path: Path
) -> None:
    result = read(content, tmp_path, name=name)

    assert isinstance(result, Document if accepted else Declined)


def test_a_declared_media_type_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    path.write_bytes(b"<p>hello")
    probe = Probe(name="spool", head=b"<p>hello", media_type="text/html; charset=utf-8")

    result = build_parser("html/html", SPEC).parse(path, probe, lambda done, total=None: None)

    assert isinstance(result, Document)
    assert result.markdown == "hello"


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"   \n",
        b"<!-- nothing -->",
        b"<html><body><div id=root></div><script>draw()</script></body></html>",
        b"<html><frameset cols='50%,50%'><frame src='a.html'></frameset></html>",
    ],
)
def test_a_page_without_text_is_an_empty_document(page: bytes, tmp_path: Path) -> None:
    assert markdown(page, tmp_path) == ""


@pytest.mark.parametrize("tag", ["div", "ul><li", "span", "blockquote", "b", "table><tr><td"])
def test_absurd_nesting_is_read_without_recursion(tag: str, tmp_path: Path) -> None:
    page = "<p>before</p>" + f"<{tag}>" * 50_000 + "deep" + "</div>" * 50_000

    result = read(page, tmp_path)

    assert isinstance(result, Document)
    assert "before" in (result.markdown or "")
    assert not result.warnings or "what lies deeper was left out" in result.warnings[0]


def test_numbered_lists_keep_their_numbers_however_long(tmp_path: Path) -> None:
    page = "<ol start=3><li>a<ol><li>b</ol><li value=7>c" + "<li>x" * 5000 + "</ol>"

    lines = markdown(page, tmp_path).splitlines()

    assert lines[:3] == ["3. a", "   1. b", "7. c"]
    assert lines[-1] == "5007. x"


def test_a_page_of_one_huge_line_is_read(tmp_path: Path) -> None:
    page = "<body>" + "".join(f"<p>word{n} <b>bold</b></p>" for n in range(4_000)) + "</body>"

    text = markdown(page, tmp_path)

    assert "word0 " in text
    assert "word3999" in text


def test_malformed_markup_and_nul_bytes_are_survived(tmp_path: Path) -> None:
    text = markdown(b"<p>a\x00b<td><<b>c</p></i><a href=>&#0;&#xD800;&bogus;", tmp_path)

    assert "ab" in text
    text.encode()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    parts=st.lists(
        st.sampled_from(
            [
                "<table>",
                "<tr>",
                "<td>",
                "</td>",
                "<th",
                "rowspan=3>",
                "<pre>",
                "</pre>",
                "<ul>",
                "<li>",
                "</ul>",
                "<a",
                "href='x'>",
                "</a>",
                "<h2>",
                "</h2>",
                "<b>",
                "</b>",
                "<article>",
                "<header>",
                "<math>",
                "<img",
                "src=x>",
                "<p>",
                "<nav>",
                "</nav>",
                "|",
                "`",
                "*",
                "#",
                "-",
                "<dl>",
                "<dt>",
                "<dd>",
                "<br>",
                "<svg>",
                "<![CDATA[",
                "-->",
                "<!--",
                "&amp;",
                "\ud7ff",
                "word",
            ]
        ),
        max_size=40,
    )
)
def test_any_heap_of_tags_gives_text(parts: list[str], tmp_path_factory) -> None:
    text = markdown("\n".join(parts), tmp_path_factory.mktemp("heap"))

    text.encode()
