"""Who cuts what, heading paths, ids, presets and what is embedded."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.builtin.plugin import localdb_chunkers
from localdb_core.domain import Block, BlockKind, Chunk, InternalError, InvalidRequest
from localdb_core.domain.ids import ResourceId, chunk_id
from localdb_core.pipeline.chunk import chunk_document
from localdb_core.pipeline.presets import TokenMeasure, preset_for, sizing_for
from localdb_core.pipeline.sniff import sniff
from localdb_core.pipeline.structure import to_blocks
from localdb_core.pipeline.trail import embedding_text, embedding_texts
from localdb_core.plugin import Chunker, ChunkerSpec, Document, PluginContext

RESOURCE = ResourceId("ab" * 32)


def built_in() -> list[tuple[ChunkerSpec, Chunker]]:
    chunkers = []
    for spec in localdb_chunkers():
        module, _, attribute = spec.target.partition(":")
        build = getattr(importlib.import_module(module), attribute)
        chunkers.append((spec, build(PluginContext(plugin="core"))))
    return chunkers


def words(texts: Sequence[str], /) -> list[int]:
    return [len(text.split()) for text in texts]


def chunks_of(source: str | Sequence[Block], preset: str = "prose", **more) -> list[Chunk]:
    if isinstance(source, str):
        blocks = to_blocks(Document(markdown=source))
    else:
        blocks = tuple(block.numbered(seq) for seq, block in enumerate(source))
    return chunk_document(
        blocks,
        resource_id=RESOURCE,
        chunkers=built_in(),
        preset=preset,
        sizing=sizing_for(preset),
        **more,
    )


@pytest.mark.req("L-CHK-20")
def test_the_heading_path_has_one_slot_per_level() -> None:
    text = "intro\n\n# A\n\none\n\n### B\n\ntwo\n\n## C\n\nthree\n\n# D\n\nfour"

    assert [(c.text, c.heading_path) for c in chunks_of(text)] == [
        ("intro", ()),
        ("one", ("A",)),
        ("two", ("A", "", "B")),
        ("three", ("A", "C")),
        ("four", ("D",)),
    ]


@pytest.mark.req("L-CHK-20")
def test_a_document_that_starts_deep_has_empty_slots() -> None:
    assert chunks_of("### Deep\n\ntext")[0].heading_path == ("", "", "Deep")


@pytest.mark.req("L-CHK-12", "L-CHK-20")
def test_headings_are_chunks_only_where_there_is_nothing_else() -> None:
    bare = chunks_of("# A\n\n### B\n\n## C")
    one_word = chunks_of("# A\n\n## B\n\nword")

    assert [(c.text, c.heading_path) for c in bare] == [("A", ()), ("B", ("A",)), ("C", ("A",))]
    assert {chunk.block_kind for chunk in bare} == {BlockKind.HEADING}
    assert [chunk.text for chunk in one_word] == ["word"]


@pytest.mark.req("L-CHK-12")
def test_front_matter_is_a_chunk_unless_it_was_read() -> None:
    text = "---\ntitle: A\n---\nBody"

    assert [c.text for c in chunks_of(text, front_matter_read=True)] == ["Body"]
    assert [c.text for c in chunks_of(text)] == ["title: A", "Body"]


@pytest.mark.req("L-CHK-14", "L-DOM-03", "L-CHK-11")
def test_ids_follow_from_the_place_within_each_block() -> None:
    paragraph = "Some words in a sentence. " * 100
    chunks = chunks_of(f"{paragraph}\n\n# H\n\n{paragraph}")

    places = [(chunk.block_seq, chunk.seq_in_block) for chunk in chunks]
    assert places == [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)]
    for chunk in chunks:
        assert chunk.id == chunk_id(
            RESOURCE,
            block_seq=chunk.block_seq,
            text=chunk.text,
            seq_in_block=chunk.seq_in_block,
        )


@pytest.mark.req("L-CHK-14", "L-CHK-63")
def test_messages_come_first_and_are_numbered_through_the_document() -> None:
    talk = [Block(BlockKind.MESSAGE, f"turn {n}", details={"sender": "A"}) for n in range(10)]

    chunks = chunks_of([Block.heading("Chat", level=1), *talk, Block.text_run("After")])

    assert [chunk.seq_in_block for chunk in chunks] == [0, 1, 2, 0]
    assert [chunk.block_seq for chunk in chunks] == [1, 4, 7, 11]
    assert chunks[0].heading_path == ("Chat",)
    assert chunks[-1].text == "After"


@pytest.mark.req("L-CHK-10")
def test_empty_blocks_give_nothing() -> None:
    assert chunks_of([Block.text_run(""), Block.image(alt="", src="a.png")]) == []


def test_a_chunk_is_on_its_blocks_page() -> None:
    assert chunks_of([Block.text_run("x", page=7)])[0].page == 7


@pytest.mark.req("L-CHK-13")
def test_a_block_nobody_claims_is_loud() -> None:
    with pytest.raises(InternalError, match="no chunker claims text blocks"):
        chunk_document(
            [Block.text_run("x")],
            resource_id=RESOURCE,
            chunkers=[one for one in built_in() if "text" not in one[0].claims],
            preset="prose",
            sizing=sizing_for("prose"),
        )


@pytest.mark.req("L-CHK-03")
def test_running_text_of_a_code_file_is_cut_like_code() -> None:
    source = "def f():\n    return 1\n\n\n" * 200

    as_code = chunks_of([Block.text_run(source)], preset="code")
    fence = chunks_of(f"```\n{source}```\n\nText")

    assert "".join(chunk.text for chunk in as_code) == source
    assert max(len(chunk.text) for chunk in as_code) > 2900
    assert max(len(chunk.text) for chunk in fence) > 2900


@pytest.mark.req("L-CHK-64")
@pytest.mark.parametrize(
    ("source", "mime", "name", "preset"),
    [
        ("code", "text/plain", "a.md", "code"),
        ("messages", "application/json", "a.json", "messages"),
        ("prose", "application/json", "data", "code"),
        ("prose", "text/x-python", "a", "code"),
        ("prose", "text/plain", "a.py", "prose"),
        ("prose", "text/plain", "Cargo.lock", "prose"),
        ("prose", None, "Cargo.lock", "code"),
        ("prose", "application/octet-stream", "A.CPP", "code"),
        ("prose", "application/octet-stream", "a.xlsx", "code"),
        ("prose", "text/markdown", "a.md", "prose"),
        ("prose", None, ".py", "prose"),
        ("prose", "application/pdf", "a.pdf", "prose"),
    ],
)
def test_each_file_gets_its_preset(source: str, mime: str | None, name: str, preset: str) -> None:
    assert preset_for(source, mime, name) == preset


@pytest.mark.req("L-CHK-02")
def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="verse"):
        preset_for("verse", None, "a.md")


@pytest.mark.req("L-CHK-01")
def test_sizes_are_tokens_or_scaled_characters() -> None:
    by_token = sizing_for("prose", words, max_tokens=256)
    by_character = sizing_for("prose")

    assert (by_token.target, by_token.code_limit) == (254, 3000)
    assert (by_character.target, by_character.code_limit) == (1024, 3000)
    assert by_character.measure(["äö", ""]) == [2, 0]
    assert sizing_for("prose", words, max_tokens=8192).target == 256
    assert sizing_for("messages", words).target == 512
    assert sizing_for("code", words).code_limit == 3000


class _Embedder:
    card = None

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 3 for text in texts]

    def embed(self, texts, role):
        raise NotImplementedError

    def close(self) -> None:
        pass


@pytest.mark.req("L-CHK-01")
def test_special_tokens_and_prefix_do_not_count() -> None:
    measure = TokenMeasure(_Embedder())  # type: ignore[arg-type]

    assert measure(["a b", ""]) == [2, 0]
    assert sizing_for("prose", measure, max_tokens=128, added=measure.added).target == 125


def chunk(text: str, *headings: str) -> Chunk:
    (one,) = chunks_of([Block.text_run(text)])
    return Chunk(one.id, RESOURCE, 0, 0, BlockKind.TEXT, text, heading_path=headings)


@pytest.mark.req("L-CHK-12")
@pytest.mark.parametrize(
    ("title", "headings", "expected"),
    [
        ("Book", ("One", "", "Two"), "Book > One > Two\n\ntext"),
        ("One", ("one", "Two"), "one > Two\n\ntext"),
        (None, ("One",), "One\n\ntext"),
        ("Book", (), "Book\n\ntext"),
        (None, (), "text"),
        (" A\nB ", ("", "", "C  D"), "A B > C D\n\ntext"),
    ],
)
def test_title_and_trail_stand_before_what_is_embedded(
    title: str | None, headings: tuple[str, ...], expected: str
) -> None:
    one = chunk("text", *headings)

    assert embedding_text(one, title) == expected
    assert embedding_texts([one], title) == [expected]
    assert one.text == "text"


@pytest.mark.req("L-CHK-12")
@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (10, "T t > A a > B b > C c"),
        (12, "T t > A a > B b > C c"),
        (11, "T t > A a > B b > C c"),
    ],
)
def test_a_trail_that_fits_is_kept(limit: int, expected: str) -> None:
    def marks(texts: Sequence[str], /) -> list[int]:
        return [len(text.replace(">", "").split()) for text in texts]

    (text,) = embedding_texts(
        [chunk("x y", "A a", "B b", "C c")], "T t", limit=limit, measure=marks
    )

    assert text == f"{expected}\n\nx y"


@pytest.mark.req("L-CHK-12")
def test_the_trail_is_shortened_and_never_the_text() -> None:
    def marks(texts: Sequence[str], /) -> list[int]:
        return [len(text.replace(">", "").split()) for text in texts]

    one = chunk("x y", "A a", "B b", "C c")
    made = [embedding_texts([one], "T t", limit=n, measure=marks)[0] for n in (9, 7, 5, 3, 1)]

    assert [text.removesuffix("x y").strip() for text in made] == [
        "T t > B b > C c",
        "T t > C c",
        "C c",
        "",
        "",
    ]
    assert all(text.endswith("x y") for text in made)


def test_trails_of_many_chunks_are_measured_in_two_calls() -> None:
    calls = []

    def counting(texts: Sequence[str], /) -> list[int]:
        calls.append(list(texts))
        return words(texts)

    texts = embedding_texts(
        [chunk(f"text {n}", "A", str(n % 3)) for n in range(30)], "T", limit=9, measure=counting
    )

    assert len(texts) == 30
    assert len(calls) == 2
    assert embedding_texts([], "T", limit=9, measure=counting) == []


@pytest.mark.req("L-CHK-11", "L-CHK-32", "L-DOM-21", "L-DOM-22")
@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["# {}", "{}", "```\n{}\n```", "- {}", "| a |\n|---|\n| {} |"]),
            st.text(alphabet="ab .é漢\n", max_size=60),
        ),
        max_size=8,
    )
)
def test_chunks_of_any_document_slice_back(parts: list[tuple[str, str]]) -> None:
    blocks = to_blocks(Document(markdown="\n\n".join(form.format(text) for form, text in parts)))

    chunks = chunks_of(blocks)

    assert len({one.id for one in chunks}) == len(chunks)
    assert chunks == chunks_of(blocks)
    for one in chunks:
        raw = blocks[one.block_seq].text.encode()
        exact = raw[one.span.start : one.span.end].decode() == one.text
        assert exact or (one.block_kind is BlockKind.TABLE and one.span.end == 0)


@pytest.mark.req("L-ING-23")
@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b"%PDF-1.7", "a.bin", "application/pdf"),
        (b"\xef\xbb\xbf \n%PDF-1.7", "a", "application/pdf"),
        (
            b"PK\x03\x04....",
            "a.docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (b"PK\x03\x04....", "a.bin", "application/zip"),
        (b"PK\x03\x04" + b"." * 26 + b"mimetypeapplication/epub+zip", "x", "application/epub+zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc", "application/msword"),
        (b"<p align=center>", "README.md", "text/markdown"),
        (b"<!DOCTYPE HTML>", "page", "text/html"),
        (b"\xef\xbb\xbf\n<html>", "page", "text/html"),
        (b"fn main", "a.rs", "text/x-rust"),
        (b"[x]", "Cargo.lock", "text/plain"),
        (b"a,b", "a.csv", "text/csv"),
        (b"\x89PNG\r\n\x1a\n", "a.md", "image/png"),
        (b"whatever", "a.unknown", None),
        (b"", "", None),
    ],
)
def test_media_types_are_told_by_bytes_then_name(
    head: bytes, name: str, expected: str | None
) -> None:
    assert sniff(head, name) == expected
