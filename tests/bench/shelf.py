"""Index the documentation shelf with the real command: once, again, and after a kill.

    python tests/bench/shelf.py
    python tests/bench/shelf.py --limit 200 --dense exact --sparse fts5

1. A first run: counts, time, chunks a second, peak memory of the process.
2. A second run over unchanged files: its time, and that nothing was embedded.
3. A first run in another data folder, ended by SIGKILL at a random moment, then run again
   to its end. Its catalog (URIs, content hashes, chunk ids) and its answers (the ten
   best chunks of twenty questions, in every mode) are compared with those of 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shared import data_folder, open_store, write_config

from localdb_core.domain.query import SearchMode, SearchRequest

QUESTIONS: Final = (
    "how does ownership move a value into a function",
    "borrow checker lifetime of a reference returned from a function",
    "what does unsafe allow",
    "iterate over a hash map and change its values",
    "define a trait with a default method",
    "how do threads share state with a mutex",
    "uninitialized memory and drop",
    "macro that takes a variable number of arguments",
    "how is a page bundle organised",
    "template function that formats a date",
    "front matter of a content file",
    "image resizing in a static site",
    "deploy the site to a hosting service",
    "liquid filter for sorting an array",
    "permalinks of posts",
    "open a file and read it line by line",
    "regular expression named groups",
    "run a subprocess and capture its output",
    "asyncio event loop and tasks",
    "logging configuration from a dictionary",
)
TOP: Final = 10


@dataclass(frozen=True)
class Run:
    """One ``localdb index``: seconds, what it printed as JSON, its peak memory in MiB."""

    seconds: float
    counts: dict[str, Any]  # Any: JSON values
    peak: float

    @property
    def line(self) -> str:
        """Counts and time, for people."""
        rate = self.counts["chunks_written"] / self.seconds
        counts = ", ".join(f"{key} {value:,}" for key, value in _numbers(self.counts))
        return f"{self.seconds:.1f} s, {rate:.0f} chunks/s, peak {self.peak:.0f} MiB; {counts}"


@dataclass(frozen=True)
class State:
    """What a data folder holds and answers."""

    catalog: dict[str, tuple[str, tuple[str, ...]]]
    answers: dict[tuple[str, str], tuple[str, ...]]
    engines: frozenset[str]


def main() -> int:
    """Run all three; 1 when a run fails or the killed one ends with another catalog."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="localdb-shelf-") as folder:
        home = Path(folder)
        documents = _unpack(home / "documents", options.limit)
        print(f"{documents:,} files", flush=True)

        quiet = _prepare(home / "quiet", home / "documents", options)
        first = _index(quiet)
        print("first run:  ", first.line, flush=True)
        second = _index(quiet)
        print("second run: ", second.line, flush=True)
        print(f"second run embedded {second.counts['chunks_written']} chunks", flush=True)

        killed = _prepare(home / "killed", home / "documents", options)
        moment = random.Random(options.seed).uniform(0.1, 0.9) * first.seconds
        ended = _kill(killed, moment)
        print(f"killed:      {ended} after {moment:.1f} s (seed {options.seed})", flush=True)
        resumed = _index(killed)
        print("run again:  ", resumed.line, flush=True)
        return _compare(_state(quiet), _state(killed))


def _unpack(target: Path, limit: int | None) -> int:
    target.mkdir()
    with tarfile.open(data_folder("corpora", "docs-shelf.tar.gz")) as archive:
        members = [member for member in archive if member.isfile()]
        if limit is not None:  # from every part of the shelf
            members = members[:: max(1, len(members) // limit)][:limit]
        archive.extractall(target, members=members, filter="data")
    return len(members)


def _prepare(home: Path, documents: Path, options: argparse.Namespace) -> Path:
    """A data folder with one store and its source; the path of its config."""
    config = write_config(home, dense=options.dense, sparse=options.sparse)
    app, store = open_store(config)
    with app:
        app.sources.add(store, str(documents))
    return config


def _command(config: Path) -> list[str]:
    program = Path(sysconfig.get_path("scripts"), "localdb")
    return [str(program), "--config", str(config), "--json", "index"]


def _index(config: Path) -> Run:
    started = time.monotonic()
    with (config.parent / "index.log").open("a") as log:
        process = subprocess.Popen(_command(config), stdout=subprocess.PIPE, stderr=log, text=True)
        output, _ = process.communicate()
    seconds = time.monotonic() - started
    if process.returncode:
        log_end = (config.parent / "index.log").read_text().splitlines()[-5:]
        sys.exit("\n".join([f"localdb index ended with status {process.returncode}", *log_end]))
    # The largest child so far: the first run, which is the one of interest.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return Run(seconds, json.loads(output), peak)


def _kill(config: Path, moment: float) -> str:
    with (config.parent / "index.log").open("a") as log:
        process = subprocess.Popen(
            _command(config), stdout=subprocess.DEVNULL, stderr=log, start_new_session=True
        )
        try:
            process.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its parser processes, too
            process.wait()
            return "by SIGKILL"
    return "it was done before, run it with another --seed"


def _state(config: Path) -> State:
    app, store = open_store(config)
    with app:
        resources, _ = app.documents.page(store, source_id=None, offset=0, limit=1_000_000)
        catalog = {
            r.uri: (r.content_hash, tuple(c.id for c in app.documents.chunks(store, r.id)))
            for r in resources
        }
        answers, engines = {}, set()
        for question in QUESTIONS:
            for mode in SearchMode:
                result = app.search.search(SearchRequest(question, limit=TOP, mode=mode))
                answers[question, str(mode)] = tuple(c.chunk.id for c in result.citations)
                if result.explanation is not None:
                    engines |= {f"{r.leg} {r.engine}" for r in result.explanation.legs}
        return State(catalog, answers, frozenset(engines))


def _compare(quiet: State, killed: State) -> int:
    """Print how alike they are; 1 unless the catalogs are equal."""
    print(f"answered by: {', '.join(sorted(quiet.engines | killed.engines))}")
    everything = quiet.catalog.keys() | killed.catalog.keys()
    same = sum(quiet.catalog.get(uri) == killed.catalog.get(uri) for uri in everything)
    chunks = sum(len(ids) for _, ids in quiet.catalog.values())
    print(f"catalog: {same:,} of {len(everything):,} documents alike, {chunks:,} chunks")
    for mode in SearchMode:
        pairs = [(quiet.answers[q, mode], killed.answers[q, mode]) for q in QUESTIONS]
        equal = sum(one == other for one, other in pairs)
        shared = sum(len(set(one) & set(other)) for one, other in pairs)
        most = sum(max(len(one), len(other)) for one, other in pairs)
        print(
            f"answers, {mode}: {equal} of {len(pairs)} the same in the same order;"
            f" {shared} of {most} chunks shared ({shared / max(most, 1):.1%})"
        )
    return 0 if same == len(everything) else 1


def _numbers(counts: dict[str, Any]) -> list[tuple[str, int]]:
    return [(key, value) for key, value in counts.items() if isinstance(value, int)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="index the documentation shelf, thrice")
    parser.add_argument("--limit", type=int, help="only about N files, from all over the shelf")
    parser.add_argument("--dense", default="chroma", help="chroma, exact or another dense index")
    parser.add_argument("--sparse", default="whoosh", help="whoosh, fts5 or another sparse index")
    parser.add_argument("--seed", type=int, default=random.randrange(1000), help="of the kill")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
