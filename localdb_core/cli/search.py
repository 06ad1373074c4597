"""``search``: ask the stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from localdb_core.cli import filters, render, scope
from localdb_core.cli.command import Command
from localdb_core.cli.state import State, pass_state
from localdb_core.domain.chunk import Chunk
from localdb_core.domain.citation import Citation
from localdb_core.domain.query import Explanation, SearchMode, SearchRequest, SearchResult
from localdb_core.domain.snippet import cut
from localdb_core.domain.uri import display

_MOST: Final = 100

Around = tuple[list[Chunk], list[Chunk]]
"""What stands before and after a result."""


@click.command(
    "search",
    cls=Command,
    # Everything from the first word of the query on belongs to the query.
    context_settings={"allow_interspersed_args": False},
    examples=[
        "localdb search how do I renew the lease",
        "localdb search --mode keyword --limit 10 invoice 4711",
        "localdb search --under ~/contracts --after 2026-01-01 notice period",
        "localdb search --store work --explain --json quarterly report",
    ],
)
@click.option(
    "--limit",
    type=int,
    default=3,
    show_default=True,
    metavar="N",
    help="Most results; above 100 is 100.",
)
@click.option(
    "--content-length",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="N",
    help="About so many characters of each result.",
)
@click.option(
    "--mode",
    type=click.Choice([str(mode) for mode in SearchMode]),
    default="hybrid",
    show_default=True,
    help="Which indexes answer.",
)
@click.option(
    "--ranker",
    metavar="NAME",
    help="Let this installed ranker order the best results; none leaves the configured one out.",
)
@click.option(
    "--context",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Also show N passages before and after each result.",
)
@filters.options
@click.option("--explain", is_flag=True, help="Show ranks, scores and who answered.")
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@pass_state
def search(
    state: State, /, *, limit: int, content_length: int, mode: str, ranker: str | None,
    context: int, explain: bool, words: tuple[str, ...], **narrowed: Any,
) -> None:  # fmt: skip
    """Search the stores; each result says where it stands.

    Options come before the query: everything from its first word on is query text.
    """
    # Any: the values of the filters' options
    if limit < 1:
        raise click.UsageError("--limit must be greater than zero")
    query = " ".join(words)
    stores = scope.resolve(state, "search")
    request = SearchRequest(
        query,
        stores=tuple(store.id for store in stores),
        limit=min(limit, _MOST),
        mode=SearchMode(mode),
        ranker=ranker,
        filters=filters.chosen(state, stores, narrowed),
    )
    result = state.app().search.search(request)
    for notice in dict.fromkeys(result.notices):
        render.note(state, notice)
    around = [_around(state, hit, context) for hit in result.citations] if context else []
    if state.json:
        render.data(state, _json(result, around, explain=explain))
    else:
        _lines(state, result, around, query=query, cap=content_length, explain=explain)


def _around(state: State, hit: Citation, count: int) -> Around:
    app = state.app()
    return app.documents.neighbours(app.stores.resolve(hit.store.id), hit.chunk, count)


def _json(
    result: SearchResult, around: Sequence[Around], *, explain: bool
) -> dict[str, Any]:  # Any: JSON values
    shown: dict[str, Any] = {"citations": [hit.to_json() for hit in result.citations]}
    if around:
        shown["context"] = [
            {"before": [_passage(c) for c in before], "after": [_passage(c) for c in after]}
            for before, after in around
        ]
    if explain and result.explanation is not None:
        shown["explain"] = result.explanation.to_json()
    return shown


def _passage(chunk: Chunk) -> dict[str, Any]:  # Any: JSON values
    return {"chunk_id": chunk.id, "heading_path": list(chunk.heading_path), "text": chunk.text}


def _lines(
    state: State,
    result: SearchResult,
    around: Sequence[Around],
    *,
    query: str,
    cap: int,
    explain: bool,
) -> None:
    explanation = result.explanation if explain else None
    if not result.citations:
        render.line(state, f"No results for '{query}'.")
    for number, hit in enumerate(result.citations, start=1):
        before, after = around[number - 1] if around else ((), ())
        render.line(state, f"{number}. {place(hit)}")
        for chunk in before:
            render.line(state, f"   - {snippet(chunk.text, cap)}")
        render.line(state, f"   {snippet(hit.chunk.text, cap)}")
        for chunk in after:
            render.line(state, f"   - {snippet(chunk.text, cap)}")
        if explanation is not None and number <= len(explanation.hits):
            render.line(state, f"   {_scores(explanation.hits[number - 1])}")
        render.line(state)
    if explanation is not None:
        _answered(state, explanation)


def place(hit: Citation) -> str:
    """``URI > H1 > H2 (p.3)``."""
    page = "" if hit.chunk.page is None else f" (p.{hit.chunk.page})"
    return " > ".join((display(hit.resource.uri), *hit.headings)) + page


def snippet(text: str, cap: int) -> str:
    """The beginning of a passage in one line."""
    kept, shortened = cut(" ".join(text.split()), cap)
    return f"{kept}…" if shortened else kept


def _scores(hit: Mapping[str, Any]) -> str:  # Any: JSON values
    """``fused 0.0328, dense rank 1 score 0.7100, sparse rank 2 score 7.4102``."""
    by = {**hit["legs"], **({"ranker": hit["ranker"]} if "ranker" in hit else {})}
    legs = (f"{name} rank {found['rank']} score {found['score']:.4f}" for name, found in by.items())
    return ", ".join((f"fused {hit['fused']:.4f}", *legs))


def _answered(state: State, explanation: Explanation) -> None:
    """The embedder and the engine of each leg of each store."""
    render.line(state, f"embedder: {explanation.embedder or 'none'}")
    if explanation.ranker is not None:
        ranker = explanation.ranker
        note = f" ({ranker.note})" if ranker.note else ""
        render.line(state, f"ranker: {ranker.name}, saw {ranker.seen} hits{note}")
    for report in explanation.legs:
        note = f" ({report.note})" if report.note else ""
        render.line(
            state, f"{report.leg}: {report.engine}, {report.hits} hits in {report.store}{note}"
        )
