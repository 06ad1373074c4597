"""The published hashes of the specification, byte for byte."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.domain import Block, BlockKind
from localdb_core.domain.ids import (
    CHUNK_ALGORITHM,
    chunk_id,
    content_hash,
    looks_like_id,
    new_ulid,
    policy_document,
    policy_version,
    resource_id,
)

MEETING = (
    "Meeting 2026-06-02: decided to adopt reciprocal rank fusion for combining dense and "
    "sparse retrieval results. Aardvark connectors are deferred to the next milestone."
)
LANCE = (
    "LanceDB is an embedded vector database built on the Lance columnar format. It supports "
    "hybrid search combining vector similarity with BM25 full-text scoring."
)
PARSERS = ("pdf", "epub", "office", "html", "markdown", "plaintext")


@pytest.mark.req("L-DOM-01", "L-DOM-02", "L-DOM-03")
def test_a_document_of_one_text_block_has_the_published_ids() -> None:
    assert len(MEETING.encode()) == 165

    content = content_hash([Block.text_run(MEETING)])
    resource = resource_id("file:///home/user/notes/meeting.txt", content)
    chunk = chunk_id(resource, block_seq=0, text=MEETING, seq_in_block=0)

    assert content == "226aa53267d613baa9aaf444cf661ef20a2e9d8e1e9d140819ee2f7044320e4b"
    assert resource == "5e16a53946004c13b941685cddaed55d9267965abe65462bbe75d8e6184f15e7"
    assert chunk == "0bbaaa6b64dffd8b232410017b224c7b499bc3fe235382bfaa8ea63b1e435824"


@pytest.mark.req("L-DOM-01", "L-DOM-02", "L-DOM-03")
def test_a_document_with_a_heading_has_the_published_ids() -> None:
    content = content_hash([Block.heading("LanceDB notes", level=1), Block.text_run(LANCE)])
    resource = resource_id("file:///home/user/notes/lancedb-notes.md", content)
    chunk = chunk_id(resource, block_seq=1, text=LANCE, seq_in_block=0)

    assert content == "55567825f371ea048f61a59fa156068945a7ef0d9276b7813438820002ce72a2"
    assert resource == "ee2cfd35725ead3b0fb7ebccdcc4cf9fa0ea6990ac2fa1276dc689e1abed6700"
    assert chunk == "82b4631e898166f7834a786b1e8e56125ce6bfc2193fc210f591179527abbdcb"


@pytest.mark.req("L-DOM-04")
@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        (
            "local-onnx",
            "bge-small-en-v1.5",
            "a739e16768e0b8872b7220d37c37b9c9729d8eee52aa47575401035593411a69",
        ),
        (
            "local",
            "pplx-embed-context-v1-0.6b",
            "cd89956094b7700f5a8c2d101bb1b4eb385c8dc767ff6b2841e7356fc0889a79",
        ),
    ],
)
def test_a_policy_has_the_published_version(provider: str, model: str, expected: str) -> None:
    policy = policy_document(
        parsers=PARSERS, provider=provider, model=model, algorithm="textsplitter-md-v6"
    )

    assert policy_version(policy) == expected


@pytest.mark.req("L-DOM-06")
def test_the_product_names_its_own_algorithm_and_trail_template() -> None:
    policy = policy_document(parsers=PARSERS, provider="onnx", model="m")

    assert policy["chunking"] == {"algorithm": CHUNK_ALGORITHM, "preset_overrides": {}}
    assert CHUNK_ALGORITHM == "pyloc-md-v2+trail1"


@pytest.mark.req("L-DOM-04")
def test_the_order_of_parsers_and_overrides_counts_as_specified() -> None:
    def version(parsers: tuple[str, ...], **overrides: str) -> str:
        return policy_version(
            policy_document(parsers=parsers, provider="p", model="m", preset_overrides=overrides)
        )

    assert version(("a", "b")) != version(("b", "a"))
    assert version(("a",), x="1", y="2") == version(("a",), y="2", x="1")


@pytest.mark.req("L-DOM-01")
def test_a_page_and_a_kind_are_part_of_the_content_hash() -> None:
    plain = content_hash([Block.text_run("same")])

    assert content_hash([Block.text_run("same", page=2)]) != plain
    assert content_hash([Block.code("same")]) != plain
    assert content_hash([Block.text_run("same").numbered(7)]) == plain


@pytest.mark.req("L-INV-03")
@given(uri=st.text(), texts=st.lists(st.text(), max_size=4), seq=st.integers(0, 2**32 - 1))
def test_ids_depend_on_content_only(uri: str, texts: list[str], seq: int) -> None:
    blocks = [Block.text_run(text) for text in texts]

    resource = resource_id(uri, content_hash(blocks))

    assert resource == resource_id(uri, content_hash(list(blocks)))
    assert len(chunk_id(resource, block_seq=seq, text="t", seq_in_block=0)) == 64


@pytest.mark.req("L-DOM-05")
def test_ulids_are_sorted_unique_and_recognised() -> None:
    made = [new_ulid() for _ in range(2000)]

    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(looks_like_id(one) for one in made)
    assert new_ulid(0).startswith("0000000000")
    assert not looks_like_id("notes/2026")


DOCUMENT = st.lists(
    st.builds(
        Block,
        kind=st.sampled_from(["text", "code", "heading"]).map(BlockKind),
        text=st.text(max_size=6),
        page=st.none() | st.integers(1, 3),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.req("L-DOM-01", "L-DOM-02", "L-INV-03")
@given(st.data(), DOCUMENT, st.sampled_from(["file:///a.md", "file:///b.md"]))
def test_whatever_of_the_content_changes_the_ids_change_with_it(
    data: st.DataObject, blocks: list[Block], uri: str
) -> None:
    place = data.draw(st.integers(0, len(blocks) - 1))
    old = blocks[place]
    new = replace(
        old,
        **data.draw(
            st.sampled_from(
                [
                    {"text": old.text + "x"},
                    {"kind": BlockKind.TABLE},
                    {"page": 4},
                    {"text": "x" + old.text, "page": None},
                ]
            )
        ),
    )
    changed = [*blocks[:place], new, *blocks[place + 1 :]]
    numbered = [replace(block, seq=7, details={"level": 2}) for block in blocks]
    before, after = content_hash(blocks), content_hash(changed)

    assert before != after
    assert content_hash(numbered) == before
    assert len({resource_id(uri, before), resource_id(uri, after)}) == 2
    assert resource_id(uri + "x", before) != resource_id(uri, before)


@pytest.mark.req("L-DOM-03")
@given(
    st.tuples(
        st.sampled_from(["r", "s"]), st.integers(0, 3), st.text(max_size=2), st.integers(0, 3)
    ),
    st.tuples(
        st.sampled_from(["r", "s"]), st.integers(0, 3), st.text(max_size=2), st.integers(0, 3)
    ),
)
def test_two_chunks_share_an_id_only_if_they_are_the_same(
    one: tuple[str, int, str, int], two: tuple[str, int, str, int]
) -> None:
    def made(resource: str, block: int, text: str, seq: int) -> str:
        # Resource ids have one length, so no two inputs run together.
        return chunk_id(resource * 64, block_seq=block, text=text, seq_in_block=seq)

    assert (made(*one) == made(*two)) == (one == two)
