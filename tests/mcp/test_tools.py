"""The rules of the five tools."""

import json
import logging
from dataclasses import replace

import pytest

from localdb_core.builtin.tools.get_chunks import centred
from localdb_core.domain import (
    ChunkNotFound,
    InvalidRequest,
    Metadata,
    ResourceNotFound,
    StorageUnavailable,
    Store,
    StoreNotFound,
)


@pytest.fixture
def long(library, fakes):
    """A document of 20 chunks, one per block."""
    resource, chunks = fakes.long_document(20)
    library.add(resource, chunks)
    return resource


@pytest.fixture
def books(library, fakes):
    """A second store that holds the same meeting."""
    store = Store(id="01BOOKS0000000000000000000", name="books")
    library.add_store(store)
    library.add(replace(fakes.MEETING, store_id=store.id), [fakes.MEETING_CHUNK])
    return store


@pytest.mark.req("L-MCP-10")
class TestSearchArguments:
    @pytest.mark.parametrize("query", ["", "  \n\t"])
    def test_a_blank_query_is_refused(self, run_tool, query):
        with pytest.raises(InvalidRequest, match="query must not be blank"):
            run_tool("search", query=query)

    @pytest.mark.parametrize("limit", [-1, 0, 101, 2**63 - 1])
    def test_a_limit_outside_the_bounds_is_refused_with_the_bound(self, run_tool, limit):
        with pytest.raises(InvalidRequest, match="limit must be between 1 and 100, got"):
            run_tool("search", query="meeting", limit=limit)

    @pytest.mark.parametrize(("given", "used"), [(None, 10), (1, 1), (100, 100)])
    def test_a_limit_within_the_bounds_is_used(self, run_tool, library, given, used):
        run_tool("search", query="meeting", limit=given)

        assert library.requests[-1].limit == used

    @pytest.mark.parametrize("length", [None, 0, -5, 400])
    def test_a_useless_content_length_means_400(self, run_tool, library, fakes, length):
        library.pieces[fakes.MEETING.id] = [replace(fakes.MEETING_CHUNK, text="meeting " * 100)]

        answer = run_tool("search", query="meeting", content_length=length)

        snippet = answer.splitlines()[-1].strip()
        assert snippet == ("meeting " * 50).strip() + "…"

    def test_a_short_content_length_never_shortens_the_json(self, run_tool, run_json, fakes):
        arguments = {"query": "reciprocal", "content_length": 20}

        assert run_tool("search", **arguments).endswith("   Meeting 2026-06-02:…")
        assert run_json("search", **arguments)["citations"][0]["snippet"] == fakes.TEXT


@pytest.mark.req("L-MCP-12")
class TestRendering:
    def rendering(self, run_tool):
        return run_tool("search", query="meeting").split("\n\n---\n")[1]

    def show(self, library, fakes, *, headings=(), **metadata):
        library.resources[fakes.NOTES.id] = [replace(fakes.MEETING, metadata=Metadata(**metadata))]
        library.pieces[fakes.MEETING.id] = [
            replace(fakes.MEETING_CHUNK, text="The meeting.", heading_path=headings)
        ]

    def test_a_title_stands_before_the_uri(self, run_tool, library, fakes):
        self.show(library, fakes, title="Minutes\nof June")

        assert self.rendering(run_tool) == (
            "1. Minutes of June — file:///home/user/notes/meeting.txt\n"
            "   Score: 0.0328\n"
            "   The meeting."
        )

    def test_headings_follow_without_empty_slots(self, run_tool, library, fakes):
        self.show(library, fakes, headings=("A", "", "B"))

        first = self.rendering(run_tool).splitlines()[0]
        assert first == "1. file:///home/user/notes/meeting.txt > A > B"

    @pytest.mark.parametrize(
        ("metadata", "byline"),
        [
            ({"creator": ("Ada", "Bob"), "date": "1843"}, "   Ada · 1843"),
            ({"creator": ("Ada",)}, "   Ada"),
            ({"date": "1843"}, "   1843"),
        ],
    )
    def test_creator_and_date_have_a_line(self, run_tool, library, fakes, metadata, byline):
        self.show(library, fakes, **metadata)

        assert self.rendering(run_tool).splitlines()[1] == byline

    def test_hits_are_separated_by_an_empty_line(self, run_tool, library, fakes, long):
        rendering = run_tool("search", query="passage", limit=2).split("\n\n---\n")[1]

        assert rendering.count("\n\n") == 1
        assert rendering.split("\n\n")[1].startswith("2. file:///long-20\n")
        assert not rendering.endswith("\n")

    def test_no_hit_is_said(self, run_tool):
        assert run_tool("search", query="zebra").endswith("\n\n---\nNo results found.")


@pytest.mark.req("L-MCP-13")
def test_without_any_store_search_gives_json_only(run_tool, library):
    library.stores.clear()

    answer = run_tool("search", query="meeting")

    assert json.loads(answer) == {"citations": [], "total_candidates": 0}
    assert library.requests == []


def test_text_in_any_script_is_printed_as_it_is(run_tool, library, fakes):
    library.texts[fakes.MEETING.id] = "会议 — naïve 🙂"

    assert '"text": "会议 — naïve 🙂"' in run_tool("get_document", id=fakes.MEETING.id)


def test_notices_go_to_the_log_and_never_into_the_result(run_tool, library, caplog):
    quiet = run_tool("search", query="meeting")
    library.notices = ("the keyword index was rebuilt",)

    with caplog.at_level(logging.WARNING):
        assert run_tool("search", query="meeting") == quiet

    assert "the keyword index was rebuilt" in caplog.text


@pytest.mark.req("L-MCP-14")
class TestStoreArguments:
    @pytest.mark.parametrize(
        ("tool", "arguments"),
        [
            ("search", {"query": "meeting", "stores": ["notes", "nowhere"]}),
            ("get_document", {"id": "x", "store": "nowhere"}),
            ("get_chunks", {"resource_id": "x", "store": "nowhere"}),
            ("list_documents", {"store": "nowhere"}),
        ],
    )
    def test_an_unknown_store_is_named(self, run_tool, tool, arguments):
        with pytest.raises(StoreNotFound) as caught:
            run_tool(tool, **arguments)

        assert caught.value.bare == "no store named 'nowhere'"

    def test_an_id_wins_over_a_name(self, run_json, library, books):
        library.add_store(Store(id="01OTHER0000000000000000000", name=books.id))

        assert run_json("list_documents", store=books.id)["store"]["name"] == "books"

    def test_a_store_named_twice_is_searched_once(self, run_tool, library, books):
        run_tool("search", query="meeting", stores=["books", books.id, "notes"])

        assert library.requests[-1].stores == (books.id, "01KTVGQ62TQN8X6XN9E5FDZN67")

    @pytest.mark.parametrize("stores", [None, []])
    def test_no_names_mean_every_store(self, run_json, books, stores):
        answer = run_json("search", query="meeting", stores=stores)

        assert [hit["store"]["name"] for hit in answer["citations"]] == ["books", "notes"]


@pytest.mark.req("L-MCP-15")
class TestGetDocument:
    @pytest.mark.parametrize("arguments", [{}, {"id": " "}, {"id": "", "store": "notes"}])
    def test_a_blank_id_is_refused(self, run_tool, arguments):
        with pytest.raises(InvalidRequest, match="id is required"):
            run_tool("get_document", **arguments)

    def test_an_id_is_enough_even_with_a_uri(self, run_json, fakes):
        answer = run_json("get_document", id=fakes.MEETING.id, uri="file:///elsewhere")

        assert answer["resource_id"] == fakes.MEETING.id

    def test_the_first_store_that_holds_it_answers(self, run_json, fakes, books):
        assert run_json("get_document", id=fakes.MEETING.id)["store"]["name"] == "books"

    @pytest.mark.parametrize("name", ["notes", "01KTVGQ62TQN8X6XN9E5FDZN67"])
    def test_a_store_restricts_the_lookup(self, run_json, fakes, books, name):
        answer = run_json("get_document", id=fakes.MEETING.id, store=name)

        assert answer["store"]["name"] == "notes"

    @pytest.mark.parametrize("arguments", [{}, {"store": "books"}])
    def test_an_unknown_document_is_said(self, run_tool, books, arguments):
        with pytest.raises(ResourceNotFound):
            run_tool("get_document", id="unknown", **arguments)


@pytest.mark.req("L-MCP-16")
class TestPaging:
    def test_chunks_come_in_storage_order(self, run_json, library, fakes, long):
        library.pieces[long.id].reverse()

        answer = run_json("get_chunks", resource_id=long.id)

        assert [chunk["block_seq"] for chunk in answer["chunks"]] == list(range(20))

    def test_a_page_starts_at_the_offset(self, run_json, long):
        answer = run_json("get_chunks", resource_id=long.id, offset=18, limit=5)

        assert (answer["offset"], answer["limit"], answer["returned"]) == (18, 5, 2)
        assert answer["anchor_index"] is None

    @pytest.mark.parametrize("offset", [20, 2**63 - 1])
    def test_an_offset_past_the_end_gives_nothing(self, run_json, long, offset):
        answer = run_json("get_chunks", resource_id=long.id, offset=offset)

        assert (answer["chunks"], answer["offset"], answer["total_chunks"]) == ([], offset, 20)

    @pytest.mark.parametrize(
        ("arguments", "bound"),
        [
            ({"limit": 0}, "limit must be between 1 and 200, got 0"),
            ({"limit": 201}, "limit must be between 1 and 200, got 201"),
            ({"offset": -1}, "offset must be at least 0, got -1"),
            ({"anchor_block_seq": -1}, "anchor_block_seq must be at least 0, got -1"),
        ],
    )
    def test_a_number_outside_the_bounds_is_refused_with_the_bound(
        self, run_tool, long, arguments, bound
    ):
        with pytest.raises(InvalidRequest, match=bound):
            run_tool("get_chunks", resource_id=long.id, **arguments)

    def test_an_unknown_document_is_said(self, run_tool):
        with pytest.raises(ResourceNotFound):
            run_tool("get_chunks", resource_id="unknown")


@pytest.mark.req("L-MCP-17")
@pytest.mark.parametrize(
    "arguments",
    [
        {"offset": 0, "anchor_chunk_id": "chunk-1"},
        {"offset": 0, "anchor_block_seq": 0},
        {"anchor_chunk_id": "chunk-1", "anchor_block_seq": 0},
    ],
)
def test_two_ways_to_a_place_are_refused_before_the_lookup(run_tool, arguments):
    with pytest.raises(InvalidRequest, match="mutually exclusive"):
        run_tool("get_chunks", resource_id="unknown", **arguments)


@pytest.mark.req("L-MCP-18")
class TestAnchors:
    def test_an_unknown_chunk_is_said(self, run_tool, long):
        with pytest.raises(ChunkNotFound, match="chunk-99"):
            run_tool("get_chunks", resource_id=long.id, anchor_chunk_id="chunk-99")

    def test_a_block_past_the_end_is_said(self, run_tool, long):
        with pytest.raises(ChunkNotFound):
            run_tool("get_chunks", resource_id=long.id, anchor_block_seq=20)

    def test_the_next_block_that_has_a_chunk_is_taken(self, run_json, library, long):
        library.pieces[long.id] = [c for c in library.pieces[long.id] if c.block_seq % 5 == 0]

        answer = run_json("get_chunks", resource_id=long.id, anchor_block_seq=11, limit=1)

        assert answer["chunks"][0]["block_seq"] == 15

    def test_of_one_block_the_first_chunk_is_taken(self, run_json, library, long):
        first = library.pieces[long.id][3]
        library.pieces[long.id].insert(0, replace(first, id="second", seq_in_block=1))

        answer = run_json("get_chunks", resource_id=long.id, anchor_block_seq=3, limit=1)

        assert answer["chunks"][0]["chunk_id"] == first.id


@pytest.mark.req("L-MCP-19")
@pytest.mark.parametrize(
    ("position", "limit", "start"),
    [
        (10, 5, 8),
        (10, 30, 0),
        (10, 20, 0),
        (0, 5, 0),
        (1, 5, 0),
        (19, 5, 15),
        (10, 4, 8),
        (7, 1, 7),
    ],
)
def test_a_window_is_centred_and_moved_inwards_at_the_edges(position, limit, start):
    window = centred(position, total=20, limit=limit)

    assert (window.offset, window.anchor_index) == (start, position - start)


@pytest.mark.req("L-MCP-20")
def test_a_store_that_cannot_be_counted_fails_the_call(run_tool, fakes, monkeypatch):
    def fail(self, store):
        raise StorageUnavailable("the disk is full")

    monkeypatch.setattr(fakes.Stores, "stats", fail)

    with pytest.raises(StorageUnavailable):
        run_tool("list_stores")


@pytest.mark.req("L-MCP-21")
class TestListDocuments:
    def test_documents_are_ordered_by_uri_and_paged(self, run_json, long):
        answer = run_json("list_documents", store="notes", offset=1, limit=1)

        assert [row["uri"] for row in answer["documents"]] == [long.uri]
        assert (answer["total"], answer["returned"]) == (2, 1)

    def test_an_unknown_source_gives_nothing(self, run_json):
        answer = run_json("list_documents", store="notes", source="unknown")

        assert (answer["documents"], answer["total"]) == ([], 0)

    @pytest.mark.parametrize("arguments", [{"limit": 0}, {"limit": 201}, {"offset": -1}])
    def test_numbers_outside_the_bounds_are_refused(self, run_tool, arguments):
        with pytest.raises(InvalidRequest, match="must be"):
            run_tool("list_documents", store="notes", **arguments)
