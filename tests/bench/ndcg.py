"""Print nDCG@10 of the product's own search on sets with relevance judgments.

    python tests/bench/ndcg.py scifact cranfield
    python tests/bench/ndcg.py cranfield --dense exact --sparse fts5
    python tests/bench/ndcg.py --languages de,ru,zh

Every document becomes a small Markdown file: its title as the first heading, then its
text with Markdown's own characters escaped, so that what is indexed is what the set
holds. The title then takes part as in any real note: it is the document's title and
stands in front of each chunk. The folder is indexed as a ``path`` source, and each query
goes through the application with a limit of 100 chunks. A document counts once, at the
rank of its best chunk. Gain is the judgment itself, the discount log2(rank + 1), the
ideal is made of all judged documents of the query (as trec_eval's ndcg_cut.10); the mean
is over queries with at least one relevant document.

``--languages`` measures XQuAD, one language in a store of its own, with the dense leg's
weight in the hybrid set to 0, 0.25, 0.5 and 1 (E-9: the product chooses by language).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

from shared import data_folder, open_store, table, write_config

from localdb_core.domain.query import SearchMode, SearchRequest

DEPTH: Final = 10
CHUNKS: Final = 100
WEIGHTS: Final = (0.0, 0.25, 0.5, 1.0)
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$:=^])")


@dataclass(frozen=True)
class Judged:
    """A set: ``documents`` by id as (title, text), queries, judgments by query."""

    documents: Mapping[str, tuple[str, str]]
    queries: Mapping[str, str]
    judgments: Mapping[str, Mapping[str, int]]


def main() -> None:
    """Measure what the command line names."""
    options = _options()
    if options.languages is None:
        _sets(options)
    else:
        _languages(options)


def read(folder: Path, *, documents: int | None, queries: int | None) -> Judged:
    """A set, or its first documents with the first queries that have an answer there."""
    texts: dict[str, tuple[str, str]] = {}
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            texts[row["_id"]] = (row.get("title") or "", row["text"])
            if len(texts) == documents:
                break
    judgments: dict[str, dict[str, int]] = defaultdict(dict)
    with (folder / "qrels.tsv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            if row["corpus-id"] in texts:
                judgments[row["query-id"]][row["corpus-id"]] = int(row["score"])
    asked: dict[str, str] = {}
    with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if any(score > 0 for score in judgments[row["_id"]].values()):
                asked[row["_id"]] = row["text"]
            if len(asked) == queries:
                break
    return Judged(texts, asked, judgments)


def write_documents(judged: Judged, folder: Path) -> dict[str, str]:
    """One Markdown file for each document; the id of each file name's stem."""
    folder.mkdir()
    stems: dict[str, str] = {}
    for number, (name, (title, text)) in enumerate(judged.documents.items()):
        stem = f"{number:06}"  # ids may hold what a file name may not
        heading = f"# {_escaped(title)}\n\n" if title.strip() else ""
        (folder / f"{stem}.md").write_text(f"{heading}{_escaped(text)}\n", encoding="utf-8")
        stems[stem] = name
    return stems


def ndcg(ranked: Sequence[str], judgments: Mapping[str, int]) -> float:
    """nDCG at ten of one query."""
    ideal = _gain(sorted(judgments.values(), reverse=True))
    return _gain(judgments.get(name, 0) for name in ranked) / ideal if ideal else 0.0


class Measured:
    """A set in an index of its own.

    ``engines`` fills with the names that the search results gave.
    """

    def __init__(self, judged: Judged, home: Path, *, dense: str, sparse: str) -> None:
        self.judged = judged
        self.engines: dict[str, str] = {}
        self._stems = write_documents(judged, home / "documents")
        self.app, store = open_store(write_config(home, dense=dense, sparse=sparse))
        self.app.sources.add(store, str(home / "documents"))
        started = time.monotonic()
        report = self.app.index([store])[0]
        self.seconds = time.monotonic() - started
        if report.error is not None:
            raise report.error
        self.chunks = report.stats.chunks_written
        self.indexed = report.stats.docs_indexed

    def score(self, mode: SearchMode, *, weight: float | None = None) -> float:
        """Mean nDCG@10 over the queries; ``weight`` overrules the dense leg's own."""
        if weight is None:
            scores = [self._query(name, mode) for name in self.judged.queries]
        else:
            # No setting reaches this number on purpose: it is measured, not chosen.
            with patch("localdb_core.search.service.dense_weight", return_value=weight):
                scores = [self._query(name, mode) for name in self.judged.queries]
        return sum(scores) / len(scores) if scores else math.nan

    def _query(self, name: str, mode: SearchMode) -> float:
        request = SearchRequest(self.judged.queries[name], limit=CHUNKS, mode=mode)
        result = self.app.search.search(request)
        if result.explanation is not None:
            self.engines.update((leg.leg, leg.engine) for leg in result.explanation.legs)
            self.engines["embedder"] = result.explanation.embedder or self.engines.get(
                "embedder", "none"
            )
        # A dict keeps the first, that is the best, place of each document.
        stems = dict.fromkeys(Path(c.resource.uri).stem for c in result.citations)
        ranked = [self._stems[stem] for stem in stems][:DEPTH]
        return ndcg(ranked, self.judged.judgments[name])

    def __enter__(self) -> Measured:
        return self

    def __exit__(self, *_: object) -> None:
        self.app.close()

    @property
    def answered(self) -> str:
        """Who answered, as one line."""
        return ", ".join(f"{part} {name}" for part, name in sorted(self.engines.items()))


def _sets(options: argparse.Namespace) -> None:
    rows = []
    for name in options.sets:
        judged = read(data_folder("ir", name), documents=options.limit, queries=options.queries)
        with _temporary() as home, _measured(judged, home, options) as measured:
            sparse, dense, hybrid = (
                measured.score(mode)
                for mode in (SearchMode.KEYWORD, SearchMode.DENSE, SearchMode.HYBRID)
            )
            verdict = "yes" if hybrid > max(sparse, dense) else "no"
            scores = tuple(f"{score:.4f}" for score in (sparse, dense, hybrid))
            rows.append((name, *_counts(measured), *scores, verdict))
            _say(name, measured)
    header = ("set", "documents", "chunks", "queries", "sparse", "dense", "hybrid", "hybrid best")
    print("\nnDCG@10\n" + table(header, rows))


def _languages(options: argparse.Namespace) -> None:
    known = sorted(path.name for path in data_folder("ir", "xquad").iterdir() if path.is_dir())
    wanted = known if options.languages == "all" else options.languages.split(",")
    rows = []
    for language in wanted:
        folder = data_folder("ir", "xquad", language)
        judged = read(folder, documents=options.limit, queries=options.queries)
        with _temporary() as home, _measured(judged, home, options) as measured:
            scores = [measured.score(SearchMode.KEYWORD), measured.score(SearchMode.DENSE)]
            scores += [measured.score(SearchMode.HYBRID, weight=weight) for weight in WEIGHTS]
            scores.append(measured.score(SearchMode.HYBRID))
            rows.append((language, *_counts(measured), *(f"{score:.4f}" for score in scores)))
            _say(language, measured)
    hybrids = tuple(f"hybrid {weight:g}" for weight in WEIGHTS)
    header = ("XQuAD", "documents", "chunks", "queries", "sparse", "dense", *hybrids, "as shipped")
    print("\nnDCG@10 by weight of the dense leg\n" + table(header, rows))


def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="localdb-ndcg-")


def _measured(judged: Judged, home: str, options: argparse.Namespace) -> Measured:
    return Measured(judged, Path(home), dense=options.dense, sparse=options.sparse)


def _counts(measured: Measured) -> tuple[str, str, str]:
    judged = measured.judged
    return f"{len(judged.documents):,}", f"{measured.chunks:,}", f"{len(judged.queries):,}"


def _say(name: str, measured: Measured) -> None:
    left = len(measured.judged.documents) - measured.indexed
    gone = f" ({left} without text)" if left else ""
    print(
        f"{name}: {measured.indexed:,} documents{gone}, {measured.chunks:,} chunks in"
        f" {measured.seconds:.1f} s; answered by: {measured.answered}",
        flush=True,
    )


def _gain(scores: Iterable[int]) -> float:
    best = list(scores)[:DEPTH]
    return sum(max(score, 0) / math.log2(rank + 2) for rank, score in enumerate(best))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="nDCG@10 of the product's own search")
    parser.add_argument("sets", nargs="*", default=["scifact", "cranfield"])
    parser.add_argument("--dense", default="chroma", help="chroma, exact or another dense index")
    parser.add_argument("--sparse", default="whoosh", help="whoosh, fts5 or another sparse index")
    parser.add_argument("--languages", help="measure XQuAD instead: de,zh,… or all")
    parser.add_argument("--limit", type=int, help="only the first N documents")
    parser.add_argument("--queries", type=int, help="only the first N queries")
    return parser.parse_args()


if __name__ == "__main__":
    main()
