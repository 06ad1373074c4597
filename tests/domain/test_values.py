"""Spans, blocks, metadata, stores and errors."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.domain import Block, InvalidRequest, Metadata, Span
from localdb_core.domain.errors import (
    ERRORS_BY_CODE,
    InternalError,
    PluginError,
    UnsupportedFormat,
    error_from_code,
)
from localdb_core.domain.frontmatter import MAX_LENGTH, split_front_matter
from localdb_core.domain.metadata import REPEATED, SCALAR
from localdb_core.domain.store import Source, check_store_name

OPTIONAL = st.none() | st.text(min_size=1)
METADATA = st.builds(
    Metadata,
    **{name: OPTIONAL for name in SCALAR},
    **{name: st.lists(st.text(), max_size=3).map(tuple) for name in REPEATED},
)


@pytest.mark.req("L-DOM-20")
@given(text=st.text(), cuts=st.tuples(st.integers(0, 50), st.integers(0, 50)))
def test_a_span_counts_bytes_and_slices_back(text: str, cuts: tuple[int, int]) -> None:
    start, end = sorted(min(cut, len(text)) for cut in cuts)

    span = Span.of_characters(text, start, end)

    assert text.encode()[span.start : span.end].decode() == text[start:end]


@given(text=st.text(), level=st.integers(1, 6), page=st.none() | st.integers(1))
def test_a_block_survives_json(text: str, level: int, page: int | None) -> None:
    for block in (
        Block.heading(text, level=level, page=page),
        Block.image(alt=text, src=None, page=page),
        Block.table(text, headers=[text], rows=3),
    ):
        assert Block.from_json(json.loads(json.dumps(block.to_json()))) == block


@pytest.mark.req("L-DOM-30")
@given(METADATA)
def test_metadata_survives_json_with_every_key_present(metadata: Metadata) -> None:
    value = json.loads(json.dumps(metadata.to_json()))

    assert set(value) == {*SCALAR, *REPEATED, "kind", "page_count", "word_count"}
    assert Metadata.from_json(value) == metadata


def test_damaged_metadata_reads_as_an_empty_document() -> None:
    for damaged in (None, 7, [], "x", {"kind": "spaceship"}):
        assert Metadata.from_json(damaged) == Metadata()
    assert Metadata.from_json({"title": 7, "creator": "A"}).creator == ("A",)


def test_metadata_is_filled_where_it_is_empty() -> None:
    first, second = Metadata(title="A"), Metadata(title="B", date="2026", extra={"page_count": 3})

    filled = first.filled_from(second)

    assert (filled.title, filled.date, filled.extra) == ("A", "2026", {"page_count": 3})


@pytest.mark.req("L-DOM-10")
@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b"])
def test_a_store_name_that_could_be_a_path_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match="store"):
        check_store_name(name)


def test_a_path_source_makes_file_resources() -> None:
    source = Source(id="s", store_id="t", kind="path", root="notes")  # type: ignore[arg-type]

    assert (source.ingestor_kind, source.location) == ("file", "notes")


@pytest.mark.req("L-ERR-01", "L-ERR-03")
@pytest.mark.parametrize("code", sorted(ERRORS_BY_CODE))
def test_an_error_is_rebuilt_from_its_code(code: str) -> None:
    original = ERRORS_BY_CODE[code]("what happened").within("file:///a.pdf")

    rebuilt = error_from_code(code, "what happened")
    pickled = pickle.loads(pickle.dumps(original))

    assert type(rebuilt) is type(original)
    assert rebuilt.bare == "what happened"
    assert str(pickled) == str(original)
    assert str(original).startswith("file:///a.pdf: ")


@pytest.mark.req("L-ERR-01")
@pytest.mark.parametrize("code", sorted(ERRORS_BY_CODE))
@pytest.mark.parametrize("message", ["what happened", "a: b: c", ""])
def test_every_error_survives_the_wire(code: str, message: str) -> None:
    sent = ERRORS_BY_CODE[code](message)

    received = error_from_code(sent.code, sent.wire)

    assert type(received) is type(sent)
    assert (str(received), received.bare) == (str(sent), sent.bare)


@pytest.mark.req("L-ERR-01")
def test_an_error_with_its_place_survives_the_wire() -> None:
    sent = UnsupportedFormat("no text").within("file:///a.pdf", "pdf")

    assert str(error_from_code(sent.code, sent.wire)) == str(sent)


@pytest.mark.req("L-ERR-01")
def test_an_unknown_code_is_internal_with_the_http_status_in_the_text() -> None:
    error = error_from_code("flood", "too wet", http_status=418)

    assert isinstance(error, InternalError)
    assert str(error).startswith("flood: too wet (HTTP 418) (id ")
    assert error_from_code("document_not_found", "x").code == "resource_not_found"


@pytest.mark.req("L-ERR-01")
def test_an_internal_error_keeps_its_id_on_the_wire_and_between_processes() -> None:
    sent = InternalError("ours")

    for received in (error_from_code("internal", sent.wire), pickle.loads(pickle.dumps(sent))):
        assert isinstance(received, InternalError)
        assert (received.correlation_id, str(received)) == (sent.correlation_id, str(sent))


# Spec §9: code → (exit status, HTTP status, whether the wire carries the bare message).
TABLE = {
    "store_not_found": (3, 404, True),
    "source_not_found": (3, 404, True),
    "resource_not_found": (3, 404, True),
    "job_not_found": (3, 404, True),
    "chunk_not_found": (3, 404, False),
    "runtime_state_locked": (4, 409, False),
    "daemon_running": (4, 409, False),
    "daemon_unreachable": (5, 502, False),
    "invalid_config": (2, 422, True),
    "invalid_request": (2, 400, True),
    "unsupported_format": (2, 422, False),
    "extraction_failed": (2, 422, False),
    "provider_unavailable": (5, 502, True),
    "model_missing": (5, 503, True),
    "rate_limited": (5, 502, True),
    "index_in_progress": (4, 409, False),
    "job_cancelled": (4, 409, False),
    "job_already_terminal": (4, 409, False),
    "storage_unavailable": (5, 507, False),
    "unauthorized": (2, 401, False),
    "forbidden": (2, 403, False),
}


@pytest.mark.req("L-ERR-02", "L-ERR-03")
def test_codes_exit_states_and_http_states_follow_the_table() -> None:
    assert {
        code: (kind.exit_status, kind.http_status, kind.sent_bare)
        for code, kind in ERRORS_BY_CODE.items()
    } == TABLE
    assert (InternalError.code, InternalError.exit_status, InternalError.http_status) == (
        "internal",
        1,
        500,
    )


@pytest.mark.req("L-ERR-03")
@pytest.mark.parametrize("code", sorted(TABLE))
def test_the_wire_carries_the_bare_message_for_nine_codes_and_the_whole_for_the_others(
    code: str,
) -> None:
    error = ERRORS_BY_CODE[code]("x")

    assert error.wire == ("x" if TABLE[code][2] else str(error))


def test_an_internal_error_carries_a_correlation_id() -> None:
    error = InternalError("boom")

    assert error.correlation_id in str(error)
    assert "plugin p (p 1.0): import: no" in str(
        PluginError("p", stage="import", reason="no", distribution="p 1.0")
    )


@pytest.mark.req("L-PAR-20")
def test_front_matter_ends_at_its_fence() -> None:
    for newline in ("\n", "\r\n"):
        text = newline.join(("---", "title: A", "---", "# B"))
        found = split_front_matter(text)
        assert found is not None
        assert (found.format, found.body, text[found.end :]) == ("yaml", "title: A", "# B")
    at_end = split_front_matter("+++\na = 1\n+++")
    assert at_end is not None
    assert (at_end.format, at_end.body) == ("toml", "a = 1")


@pytest.mark.parametrize(
    "text", ["", "---", "text\n---\na: 1\n---\n", "---\nno end\n", "----\na: 1\n----\n"]
)
def test_what_is_not_front_matter_is_left_alone(text: str) -> None:
    assert split_front_matter(text) is None


def test_two_rules_far_apart_are_not_front_matter() -> None:
    assert split_front_matter("---\n" + "word\n" * MAX_LENGTH + "---\n") is None
