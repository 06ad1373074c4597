"""The options of ``search``, against an application that is already open."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.app import LocalDB
from localdb_core.cli.main import root
from localdb_core.cli.state import State
from localdb_core.domain import Filters, Resource, SearchMode, SearchRequest
from localdb_core.domain.clock import utc_from_ns
from localdb_core.domain.errors import InvalidRequest, SourceNotFound
from localdb_core.domain.uri import file_uri
from localdb_core.testing.app import MEMORY, make_app

DAY = 86_400
AUTHORS = ("Ann Lee", "Bo")


class Shell(State):
    """A state whose streams are kept, around an application somebody else closes."""

    def __init__(self, app: LocalDB) -> None:
        super().__init__(out=io.StringIO(), err=io.StringIO())
        self._app = app

    def guard(self) -> None:
        """Nothing to protect: the streams are ours."""


def run(app: LocalDB, *arguments: str) -> tuple[str, str]:
    """What ``localdb search`` prints for these arguments, and what it says beside."""
    state = Shell(app)
    words = ["search", *arguments]
    root().main(words, prog_name="localdb", standalone_mode=False, obj=state)
    return state.out.getvalue(), state.err.getvalue()  # type: ignore[attr-defined]


def found(app: LocalDB, *arguments: str) -> set[str]:
    """The names of the files that are found."""
    out, _ = run(app, "--json", "--limit", "100", *arguments, "paragraph")
    return {hit["uri"].rpartition("/")[2] for hit in json.loads(out)["citations"]}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
    """Two folders, ``notes`` and ``notes two``, of 6 files each, a day apart from 1 May on."""
    folder = tmp_path_factory.mktemp("shelf")
    os.environ.setdefault("HOME", str(folder))
    with make_app(folder / "home", config={**MEMORY, "search": {"ranker": None}}) as app:
        store = app.stores.resolve("default")
        for place in ("notes", "notes two"):
            (folder / place / "deep").mkdir(parents=True)
            for n in range(6):
                file = folder / place / ("deep" if n > 3 else "") / f"{place[6:]}{n}.{kind(n)}"
                head = f"---\nauthor: {AUTHORS[n % 2]}\ntags: [one, t{n}]\n---\n"
                body = "".join(f"# Part {k}\n\nParagraph {k} of {n} in {place}.\n\n" for k in "abc")
                file.write_text(head + body if kind(n) == "md" else body)
                moment = 1_777_593_600 + n * DAY  # 2026-05-01T00:00:00Z
                os.utime(file, (moment, moment))
            app.sources.add(store, str(folder / place))
        app.index([store])
        yield app


def kind(n: int) -> str:
    return "md" if n % 3 else "txt"


def home(app: LocalDB) -> Path:
    return app.paths.data.parent.parent


# --- Filters ---


@pytest.mark.req("L-SRCH-23")
@pytest.mark.req("L-BYD-27")
def test_each_filter_has_an_option(app: LocalDB) -> None:
    notes, _ = app.sources.list(app.stores.resolve("default"))
    first = {f"{n}.{kind(n)}" for n in range(6)}
    second = {f" two{n}.{kind(n)}".replace(" ", "%20") for n in range(6)}
    second = {name.removeprefix("%20") for name in second}

    assert found(app) == first | second
    assert found(app, "--source", notes.id) == first
    assert found(app, "--source", str(home(app) / "notes")) == first
    assert found(app, "--under", str(home(app) / "notes")) == first
    assert found(app, "--under", str(home(app) / "notes" / "deep")) == {"4.md", "5.md"}
    assert found(app, "--under", str(home(app) / "notes" / "1.md")) == {"1.md"}
    assert found(app, "--under", file_uri(home(app) / "notes")) == first | second
    assert found(app, "--under", str(home(app) / "note")) == set()
    assert found(app, "--type", "text/plain") == {"0.txt", "3.txt", "two0.txt", "two3.txt"}
    assert found(app, "--type", "TEXT/Markdown", "--source", notes.id) == {
        "1.md",
        "2.md",
        "4.md",
        "5.md",
    }
    assert found(app, "--meta", "creator=ann lee") == {"2.md", "4.md", "two2.md", "two4.md"}
    assert found(app, "--meta", "creator=Bo", "--meta", "subject=t5") == {"5.md", "two5.md"}
    assert found(app, "--meta", "creator=Nobody") == set()


@pytest.mark.req("L-BYD-27")
@pytest.mark.parametrize(
    ("arguments", "days"),
    [
        (["--after", "2026-05-05"], {4, 5}),
        (["--before", "2026-05-02"], {0, 1}),
        (["--after", "2026-05-03", "--before", "2026-05-03"], {2}),
        (["--after", "2026-05-03T00:00:00Z", "--before", "2026-05-04T00:00:00Z"], {2, 3}),
        (["--after", "2026-05-03T00:00:00.5Z", "--before", "2026-05-04T02:00:00+03:00"], set()),
        (["--after", "2026-05-05T23:59"], {5}),
        (["--before", "1970-01-01"], set()),
        (["--before", "9999-12-31"], set(range(6))),
    ],
)
def test_days_are_whole_and_moments_exact(
    app: LocalDB, arguments: list[str], days: set[int]
) -> None:
    place = str(home(app) / "notes")

    assert found(app, "--under", place, *arguments) == {f"{n}.{kind(n)}" for n in days}


@pytest.mark.req("L-BYD-27")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--type", "markdown"], "text/markdown"),
        (["--type", "text/*"], "text/markdown"),
        (["--type", ""], "text/markdown"),
        (["--under", ""], "a folder, a file or a URI"),
        (["--under", "a\0b"], "a folder, a file or a URI"),
        (["--after", "yesterday"], "2026-03-31"),
        (["--after", ""], "2026-03-31"),
        (["--before", "2026-02-30"], "2026-03-31"),
        (["--before", "2026-13-01T00:00:00Z"], "2026-03-31"),
        (["--after", "0001-01-01T00:00:00+14:00"], "2026-03-31"),
        (["--before", "9999-12-31T23:59:59-14:00"], "2026-03-31"),
        (["--after", "1" * 100_000], "2026-03-31"),
        (["--after", "2026-05-02", "--before", "2026-05-01"], "is later than"),
        (["--meta", "creator"], "NAME=VALUE"),
        (["--meta", "creator="], "NAME=VALUE"),
        (["--meta", "colour=red"], "creator, date"),
        (["--meta", "=x"], "NAME=VALUE"),
        (["--context", "-1"], "x>=0"),
        (["--limit", "0"], "greater than zero"),
    ],
)
def test_a_value_that_means_nothing_is_a_wrong_call(
    app: LocalDB, arguments: list[str], said: str
) -> None:
    with pytest.raises(click.UsageError) as refused:
        run(app, *arguments, "paragraph")

    assert said in refused.value.format_message()
    assert refused.value.exit_code == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the current folder of a process")
def test_a_relative_folder_means_nothing_where_the_current_one_was_deleted(
    app: LocalDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    with pytest.raises(click.UsageError, match="current folder was deleted"):
        run(app, "--under", ".", "paragraph")


def test_a_source_nobody_has_is_not_found(app: LocalDB) -> None:
    with pytest.raises(SourceNotFound):
        run(app, "--source", "01KTVGQ62TQN8X6XN9E5FDZN67", "paragraph")


@pytest.mark.parametrize("value", ["%", "_", "'", '"', "😀", "x" * 10_000, "\udc80", "\x1b[2J"])
def test_hostile_values_find_nothing_and_are_no_error(app: LocalDB, value: str) -> None:
    assert found(app, "--under", f"file:{value}") == set()
    assert found(app, "--under", value) == set()
    assert found(app, "--meta", f"title={value}") == set()


@pytest.mark.req("L-SRCH-23")
def test_an_explanation_names_the_legs_that_answered_and_why(app: LocalDB) -> None:
    plain = json.loads(run(app, "--json", "--explain", "paragraph")[0])["explain"]
    out, _ = run(app, "--json", "--explain", "--type", "text/plain", "paragraph")
    narrowed = json.loads(out)["explain"]

    assert {leg["engine"] for leg in plain["legs"]} == {"memory-dense", "memory-sparse"}
    assert {leg["engine"] for leg in narrowed["legs"]} == {"exact", "fts5"}
    assert [leg["note"] for leg in narrowed["legs"]] == [
        "a narrowed search is not for memory-dense",
        "a narrowed search is not for memory-sparse",
    ]
    text, _ = run(app, "--explain", "--type", "text/plain", "paragraph")
    assert "fts5, 12 hits in default (a narrowed search is not for memory-sparse)" in text


def matches(resource: Resource, filters: Filters) -> bool:
    """The naive model of a filter."""
    metadata = resource.metadata.to_json()

    def holds(name: str, value: str) -> bool:
        kept = metadata.get(name)
        values = kept if isinstance(kept, list) else [kept]
        return value.lower() in [str(v).lower() for v in values if v is not None]

    return all(
        (
            filters.mime in (None, resource.mime),
            resource.uri.startswith(filters.uri_prefix or ""),
            (filters.fetched_after or "") <= resource.added_at,
            resource.added_at <= (filters.fetched_before or "9999"),
            filters.source_id in (None, resource.source_id),
            filters.resource_id in (None, resource.id),
            filters.policy_version in (None, resource.policy_version),
            all(holds(name, value) for name, value in filters.metadata),
        )
    )


@pytest.mark.req("L-SRCH-23")
@settings(max_examples=60, deadline=None)
@given(data=st.data(), mode=st.sampled_from(list(SearchMode)))
def test_a_narrowed_search_finds_what_the_naive_model_lets_through(
    app: LocalDB, data: st.DataObject, mode: SearchMode
) -> None:
    store = app.stores.resolve("default")
    rows, _ = app.documents.page(store, source_id=None, offset=0, limit=100)
    row = data.draw(st.sampled_from(rows))
    cut = data.draw(st.integers(0, len(row.uri)))
    moments = st.sampled_from([utc_from_ns((1_777_593_600 + n * DAY) * 10**9) for n in range(7)])

    def maybe(value: st.SearchStrategy[Any]) -> Any:
        return data.draw(st.one_of(st.none(), value))

    filters = Filters(
        mime=maybe(st.sampled_from(["text/markdown", "text/plain", "text"])),
        uri_prefix=maybe(st.sampled_from([row.uri[:cut], row.uri[:cut].upper(), "%", row.uri])),
        fetched_after=maybe(moments),
        fetched_before=maybe(moments),
        source_id=maybe(st.just(row.source_id)),
        resource_id=maybe(st.just(row.id)),
        policy_version=maybe(st.just(row.policy_version)),
        metadata=data.draw(
            st.sampled_from([(), (("creator", "bo"),), (("subject", "t2"), ("creator", "Ann Lee"))])
        ),
    )
    request = SearchRequest("paragraph", mode=mode, limit=100, filters=filters)

    result = app.search.search(request)

    expected = {r.id for r in rows if matches(r, filters)}
    assert {citation.resource.id for citation in result.citations} == expected
    assert result.total_candidates == len(result.citations) == 3 * len(expected)


# --- Around a result ---


@pytest.mark.req("L-SRCH-22")
def test_context_shows_the_passages_around_a_result(app: LocalDB) -> None:
    query = ["--limit", "1", "--mode", "keyword", "--under", str(home(app) / "notes/1.md")]

    out, _ = run(app, *query, "--context", "1", "paragraph b")
    wide = json.loads(run(app, *query, "--json", "--context", "9", "paragraph a")[0])
    none = json.loads(run(app, *query, "--json", "paragraph a")[0])

    assert out.splitlines()[1:] == [
        "   - Paragraph a of 1 in notes.",
        "   Paragraph b of 1 in notes.",
        "   - Paragraph c of 1 in notes.",
        "",
    ]
    (around,) = wide["context"]
    assert around["before"] == []
    assert [(c["text"], c["heading_path"]) for c in around["after"]] == [
        ("Paragraph b of 1 in notes.", ["Part b"]),
        ("Paragraph c of 1 in notes.", ["Part c"]),
    ]
    assert "context" not in none
    assert wide["citations"] == none["citations"]


# --- Ranker ---


@pytest.mark.req("L-BYD-25")
def test_a_ranker_is_asked_for_by_name_for_one_search(app: LocalDB) -> None:
    out, err = run(app, "--ranker", "overlap", "--explain", "--limit", "1", "paragraph b of 2")
    plain, _ = run(app, "--ranker", "none", "--explain", "--limit", "1", "paragraph b of 2")

    assert "ranker rank 1 score 1.0000" in out
    assert "ranker: overlap, saw 36 hits" in out
    assert err == ""
    assert "ranker" not in plain
    with pytest.raises(InvalidRequest, match="no ranker is named 'nobody'; known: overlap"):
        run(app, "--ranker", "nobody", "paragraph")


@pytest.mark.req("L-CLI-22")
def test_an_explanation_shows_ranks_scores_and_who_answered(app: LocalDB) -> None:
    out, _ = run(app, "--explain", "--limit", "1", "paragraph b of 2")

    lines = out.splitlines()
    assert re.fullmatch(
        r"   fused 0\.03\d\d, dense rank [1-5] score 0\.\d{4}, sparse rank 1 score 4\.0000",
        lines[2],
    )
    assert lines[4:] == [
        "embedder: fake fake",
        "dense: memory-dense, 36 hits in default",
        "sparse: memory-sparse, 36 hits in default",
    ]
