"""What is special about BibTeX: its damage, its encodings, and files made to hurt."""

from __future__ import annotations

from pathlib import Path

import pytest
from localdb_bibtex.latex import plain
from localdb_bibtex.names import people
from localdb_bibtex.parser import BibtexParser

from localdb_core.domain import ExtractionFailed, JobCancelled
from localdb_core.plugin import Declined, Document, ParseResult, PluginContext, no_progress
from localdb_core.testing.parser import parse_bytes, probe_of, text_of


def parsed(content: str | bytes, folder: Path) -> ParseResult:
    """What the parser answers to a file with this content."""
    raw = content.encode() if isinstance(content, str) else content
    return parse_bytes(BibtexParser(PluginContext("bibtex")), raw, name="a.bib", folder=folder)


def document(content: str | bytes, folder: Path) -> Document:
    """The same, of a file that can be read."""
    result = parsed(content, folder)
    assert isinstance(result, Document), result
    return result


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"{\"O}sterreich", "Österreich"),
        (r"Erd\H{o}s, \v Cech, \c{c}a, na\"\i ve", "Erdős, Čech, ça, naïve"),
        (r"Stra{\ss}e \AA ngstr\"om", "Straße Ångström"),
        (r"pages 1--2 --- ``so''", "pages 1–2 — “so”"),
        (r"\textbf{bold} {\em soft} \unknown[x]{y}", "bold soft [x]y"),
        (r"100\% of \$5 \& a\_b \{c\}", "100% of $5 & a_b {c}"),
        (r"$a_{1} \le b$ costs $5", "$a_{1} \\le b$ costs $5"),
        ("a\\", "a\\"),
        (r"\'", ""),
        (r"O'Brien's half-open `door'", "O'Brien's half-open `door'"),
    ],
)
def test_latex_becomes_text(latex: str, text: str) -> None:
    assert plain(latex) == text


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("Knuth, Donald E. and Lamport, Leslie", ("Donald E. Knuth", "Leslie Lamport")),
        (
            "Ludwig van Beethoven\n  and\n  {Simon and Schuster}",
            ("Ludwig van Beethoven", "Simon and Schuster"),
        ),
        ("de la Vall{\\'e}e, Jr, Charles", ("Charles de la Vallée Jr",)),
        ("Alexandra Anderson", ("Alexandra Anderson",)),
        (" and , and ", ()),
        ("}} and {{", ("and",)),
    ],
)
def test_names_read_as_people_say_them(written: str, names: tuple[str, ...]) -> None:
    assert people(written) == names


def test_a_forgotten_brace_costs_one_reference_and_is_named_with_its_line(tmp_path: Path) -> None:
    text = "@misc{a, title={First}}\n@misc{b,\n title = {Second,\n}\n@misc{c, title={Third}}\n"

    found = document(text, tmp_path)

    assert "First" in text_of(found)
    assert "Third" in text_of(found)
    assert found.warnings == ("line 5: expected ',' or '}', the entry ends (@misc of line 2)",)


def test_a_file_of_damage_alone_is_refused_with_the_first_line(tmp_path: Path) -> None:
    with pytest.raises(ExtractionFailed, match="line 2: no '}' ends the value that begins here"):
        parsed("@misc{a,\n title = {never ends\n", tmp_path)


def test_an_unknown_macro_is_told_and_keeps_its_name(tmp_path: Path) -> None:
    found = document("@misc{a,\n title = nosuch # { Birds}}", tmp_path)

    assert "nosuch Birds" in text_of(found)
    assert found.warnings == ("line 2: no @string defines 'nosuch'",)


def test_only_the_first_damaged_places_are_told(tmp_path: Path) -> None:
    found = document("@misc{ok, title={Fine}}\n" + "@misc{x, ?}\n" * 1000, tmp_path)

    assert len(found.warnings) == 6
    assert found.warnings[-1] == "and 995 more like these"


@pytest.mark.parametrize(
    ("raw", "warnings"),
    [
        ("@misc{a, title={Çağ}}".encode("utf-8-sig"), 0),
        ("@misc{a, title={Çağ}}".encode("utf-16"), 0),
        ("% Encoding: ISO8859_9\n@misc{a, title={Çağ}}".encode("iso8859-9"), 0),
        ("% Encoding: zip\n@misc{a, title={Ça}}".encode("latin-1"), 1),
        ("% Encoding: no-such\n@misc{a, title={Ça}}".encode("latin-1"), 1),
        ("@misc{a, title={Ça}}".encode("latin-1"), 1),
    ],
)
def test_the_encoding_is_found_or_the_guess_is_told(
    raw: bytes, warnings: int, tmp_path: Path
) -> None:
    found = document(raw, tmp_path)

    assert "Ça" in text_of(found)
    assert len(found.warnings) == warnings


@pytest.mark.parametrize("raw", [b"\xff\xfe@\x00\x00\x00", b"\x93NUMPY\x00@misc{a}"])
def test_binary_files_are_declined(raw: bytes, tmp_path: Path) -> None:
    assert isinstance(parsed(raw, tmp_path), Declined)


def test_macros_that_double_each_other_are_stopped(tmp_path: Path) -> None:
    lines = ["@string{a0 = {boom boom boom}}"]
    lines += [f"@string{{a{n} = a{n - 1} # a{n - 1}}}" for n in range(1, 64)]

    with pytest.raises(ExtractionFailed, match="many times the file's size"):
        parsed("\n".join([*lines, "@misc{x, title = a63}"]), tmp_path)


def test_a_long_value_inherited_by_many_is_stopped(tmp_path: Path) -> None:
    children = "@inbook{c, title={C}, crossref={p}}\n" * 2000

    with pytest.raises(ExtractionFailed, match="crossrefs"):
        parsed(f"{children}@book{{p, title={{{'long ' * 10_000}}}}}", tmp_path)


def test_a_reference_to_itself_ends(tmp_path: Path) -> None:
    found = document("@misc{a, title={A}, crossref={b}}@misc{b, crossref={a}}", tmp_path)

    assert "cite as: b" in text_of(found)


@pytest.mark.parametrize(
    "text",
    [
        "@misc{a, title = {" + "{" * 50_000 + "deep" + "}" * 50_000 + "}}",
        "@misc{ok, title={Fine}}\n" + "@misc{a, title={\n" * 10_000,
        "@misc{ok, title={Fine}}" + "@misc{a, title=" * 10_000,
        "@misc{a, title = " + "x # " * 10_000 + "{y}}",
        "@misc{a, author = {" + "A and " * 10_000 + "B}}",
        "@misc{a, title = {" + "$" * 50_001 + "\\" * 50_001 + "}}",
        "@misc{a, title = {T}" + ", f = {v}" * 10_000 + "}",
        "@" * 50_000 + " " * 50_000 + "@misc{a, title={T}}",
    ],
    ids=["nested", "unclosed", "same-line", "joined", "authors", "marks", "fields", "at"],
)
def test_time_grows_with_the_file_whatever_is_in_it(text: str, tmp_path: Path) -> None:
    """Each would take minutes if anything were read twice, or overflow if braces recursed."""
    assert document(text, tmp_path).blocks


def test_a_long_file_can_be_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    path.write_text("@misc{a, title={A}}\n" * 1000)
    told: list[int] = []

    def cancel(done: int, total: int | None = None, /) -> None:
        told.append(done)
        if len(told) == 3:
            raise JobCancelled

    parser = BibtexParser(PluginContext("bibtex"))
    with pytest.raises(JobCancelled):
        parser.parse(path, probe_of("a.bib", path.read_bytes()), cancel)
    assert told == [20, 40, 60]
    assert isinstance(parser.parse(path, probe_of("a.bib", b""), no_progress), Document)
