"""Comparing an index with the catalog, and mending it (E-2).

The check opens and queries the index in a child process, because a broken vector
index can end its process with a signal. Then id sets are compared: what is missing
is added from the catalog, what is unknown is deleted. The index is rebuilt only
when the child dies or fewer than 80 % of the probes find themselves among ten.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localdb_core.domain.errors import StorageUnavailable
from localdb_core.domain.ids import ChunkId
from localdb_core.domain.store import Store
from localdb_core.plugin import Index, IndexEntry
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.connections import is_disk_full
from localdb_core.storage.engines import Engine, Engines, LegName
from localdb_core.storage.entries import keyword_text, stored_entries
from localdb_core.storage.ledger import IndexState
from localdb_core.storage.seal import holds, seal

log = logging.getLogger(__name__)

PROBES = 50
PROBE_DEPTH = 10
PROBE_SHARE = 0.8
BATCH = 1000
CHECK_SECONDS = 300

Note = Callable[[str], None]
Filled = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the child saw: the ids held, or why the index is not usable."""

    ids: frozenset[str] = frozenset()
    broken: str | None = None


def needs_mending(engines: Engines, store: Store, leg: LegName) -> str | None:
    """Why the index of a leg is not known to equal the catalog; None when it does.

    Costs two look-ups and a listing of the folder, and reads only files that were touched
    since; opens nothing.
    """
    engine = engines.engine(store, leg)
    catalog = engines.catalog
    if engine.owned is None or not _expected(engines, store, leg):
        return None
    state = catalog.ledger.state(store.id, leg, engine.full_id)
    if state is None:
        return "was never completed"
    generation, dirty = catalog.ledger.generation(store.id)
    if dirty:
        return "was being written when a run was interrupted"
    if state.generation != generation:
        return "missed changes"
    embedder = catalog.stores.embedder(store.id)
    if leg == "dense" and embedder is not None and state.fingerprint != embedder.fingerprint:
        return "holds vectors of another embedder"
    folder = engine.folder(catalog.data_dir, store.id)
    if not folder.exists():
        return "is missing"
    if not holds(folder, state.seal):
        return "has changed on disk"
    return None


def _spoilt(engines: Engines, store: Store, engine: Engine, state: IndexState) -> bool:
    """Whether files of an index at rest are not those that were written.

    No probing vouches for such an index: it may answer, and wrongly. One that an
    interrupted run left is another matter; its files were being written.
    """
    _, dirty = engines.catalog.ledger.generation(store.id)
    folder = engine.folder(engines.catalog.data_dir, store.id)
    return not dirty and folder.exists() and not holds(folder, state.seal)


def _expected(engines: Engines, store: Store, leg: LegName) -> bool:
    """Whether the leg should hold anything at all."""
    catalog = engines.catalog
    if leg == "sparse":
        return catalog.stores.stats(store.id).chunk_count > 0
    embedder = catalog.stores.embedder(store.id)
    return embedder is not None and catalog.vectors.count(store.id, embedder.id) > 0


def mend(
    engines: Engines, store: Store, leg: LegName, *, reason: str, note: Note
) -> IndexState | None:
    """Make the index equal the catalog; the caller holds the store's lock.

    Returns the state to record, None when the index could not be mended (said once;
    the catalog's leg goes on answering). Raises StorageUnavailable on a full disk.
    """
    engine = engines.engine(store, leg)
    language = main_language(engines.catalog, store.id)
    state = engines.catalog.ledger.state(store.id, leg, engine.full_id)
    started = time.monotonic()
    try:
        if state is None:
            verdict = Verdict(broken=reason)
        elif _spoilt(engines, store, engine, state):
            verdict = Verdict(broken="its files are not those that were written")
        else:
            verdict = check(engines, store, engine)
        if verdict.broken is not None:
            entries = refill(engines, store, engine, language=language)
            done = f"rebuilt from the catalog ({entries} entries)"
        else:
            language = state.language if state is not None else language
            added, dropped = _apply_difference(engines, store, engine, verdict, language)
            done = f"checked: {added} entries added, {dropped} removed"
    # StorageUnavailable, too: it is what an index raises when it is damaged.
    except Exception as error:  # noqa: BLE001 - the plugin guard of index calls
        if is_disk_full(error):
            raise disk_full() from error
        engines.catalog.ledger.forget(store.id, leg, engine.full_id)
        note(
            f"the {leg} index {engine.name} of store {store.name!r} {reason} and cannot be "
            f"mended ({type(error).__name__}: {error}); the catalog answers instead"
        )
        return None
    if state is not None:  # a first fill is no news
        note(
            f"the {leg} index {engine.name} of store {store.name!r} {reason}; "
            f"{verdict.broken or 'it can be read'}; {done} in {time.monotonic() - started:.1f} s"
        )
    return state_of(engines, store, engine, language=language)


def disk_full() -> StorageUnavailable:
    """What is said when an index could not be written for lack of space."""
    return StorageUnavailable("no space left on the device; free some and run the command again")


def discard(engines: Engines, store: Store, leg: LegName) -> None:
    """Throw away what an interrupted run left in the index of a store without chunks."""
    engine = engines.engine(store, leg)
    if engine.owned is None or _expected(engines, store, leg):
        return
    engines.catalog.ledger.forget(store.id, leg, engine.full_id)
    shutil.rmtree(engine.folder(engines.catalog.data_dir, store.id), ignore_errors=True)


def state_of(engines: Engines, store: Store, engine: Engine, *, language: str | None) -> IndexState:
    """The ledger's row for an index that was just made equal to the catalog."""
    embedder = engines.catalog.stores.embedder(store.id) if engine.leg == "dense" else None
    return IndexState(
        engine=engine.full_id,
        generation=0,  # the ledger fills it in
        language=language,
        fingerprint=None if embedder is None else embedder.fingerprint,
        seal=seal(engine.folder(engines.catalog.data_dir, store.id)),
    )


def refill(
    engines: Engines,
    store: Store,
    engine: Engine,
    *,
    language: str | None,
    progress: Filled | None = None,
) -> int:
    """Throw the index folder away and fill it from the catalog; returns the entries.

    Nothing is parsed and nothing is embedded.
    """
    catalog = engines.catalog
    catalog.ledger.forget(store.id, engine.leg, engine.full_id)
    folder = engine.folder(catalog.data_dir, store.id)
    if folder.is_symlink() or folder.is_file():  # something else took its place
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
    embedder_id = _embedder_id(engines, store, engine.leg)
    if engine.leg == "dense" and embedder_id is None:
        return 0  # an index made for no model would be refused by the first one
    total = len(catalog.vectors.chunk_ids(store.id, embedder_id))
    index = engines.open(store, engine, language=language)
    try:
        stored = catalog.vectors.entries(store.id, embedder_id)
        return _add(index, stored_entries(engine.leg, stored), total, progress)
    finally:
        index.close()


def _add(index: Index, entries: Iterator[IndexEntry], total: int, progress: Filled | None) -> int:
    done = 0
    batch: list[IndexEntry] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == BATCH:
            index.upsert(batch)
            index.flush()
            done += len(batch)
            batch = []
            if progress is not None:
                progress(done, total)
    if batch:
        index.upsert(batch)
        done += len(batch)
    index.flush()
    if progress is not None:
        progress(done, total)
    return done


def _apply_difference(
    engines: Engines, store: Store, engine: Engine, verdict: Verdict, language: str | None
) -> tuple[int, int]:
    catalog = engines.catalog
    embedder_id = _embedder_id(engines, store, engine.leg)
    wanted = catalog.vectors.chunk_ids(store.id, embedder_id)
    missing = wanted - verdict.ids
    unknown = verdict.ids - wanted
    if not missing and not unknown:
        return 0, 0
    index = engines.open(store, engine, language=language)
    try:
        if missing:
            stored = catalog.vectors.entries(store.id, embedder_id, only=missing)
            _add(index, stored_entries(engine.leg, stored), len(missing), None)
        if unknown:
            index.delete([ChunkId(chunk) for chunk in unknown])
            index.flush()
    finally:
        index.close()
    return len(missing), len(unknown)


def _embedder_id(engines: Engines, store: Store, leg: LegName) -> int | None:
    if leg == "sparse":
        return None
    embedder = engines.catalog.stores.embedder(store.id)
    return None if embedder is None else embedder.id


def main_language(
    catalog: Catalog, store_id: str, *, extra: Iterable[str | None] = ()
) -> str | None:
    """The language most of the store's documents are in; ``extra`` counts along."""
    counts = Counter(catalog.stores.languages(store_id))
    counts.update(tag for tag in extra if tag)
    return max(counts, key=lambda tag: (counts[tag], tag)) if counts else None


def check(engines: Engines, store: Store, engine: Engine) -> Verdict:
    """Open, list and probe the index in a child process; a crash there is an answer."""
    folder = engine.folder(engines.catalog.data_dir, store.id)
    if not folder.exists():
        return Verdict(broken="its folder is missing")
    with tempfile.TemporaryDirectory(prefix="localdb-check-") as scratch:
        request, answer = Path(scratch) / "request.json", Path(scratch) / "answer.json"
        body = _request(engines, store, engine, answer)
        request.write_text(json.dumps(body), encoding="utf-8")
        try:
            child = subprocess.run(
                # -P: a json.py in the working directory must not stand in for the real one
                [sys.executable, "-P", "-m", "localdb_core.storage.check", str(request)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=CHECK_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Verdict(broken=f"the check did not end within {CHECK_SECONDS} s")
        if not answer.exists():
            return Verdict(broken=_last_words(child.returncode, child.stderr))
        return _judge(json.loads(answer.read_text(encoding="utf-8")), len(body["probes"]))


def _request(engines: Engines, store: Store, engine: Engine, answer: Path) -> dict[str, Any]:
    assert engine.owned is not None, "a catalog leg is not checked"
    state = engines.catalog.ledger.state(store.id, engine.leg, engine.full_id)
    language = None if state is None else state.language
    context = engines.index_context(store, engine, language=language, readonly=False)
    config = context.config.model_dump(mode="json") if context.config is not None else None
    card = context.card
    return {
        "answer": os.fspath(answer),
        "target": engine.owned.value.target,
        "plugin": engine.owned.plugin,
        "config": config,
        "config_model": None
        if context.config is None
        else f"{type(context.config).__module__}:{type(context.config).__qualname__}",
        "data_dir": os.fspath(context.data_dir),
        "cache_dir": os.fspath(context.cache_dir),
        "folder": os.fspath(context.folder),
        "store_id": store.id,
        "language": language,
        "card": None
        if card is None
        else {
            "name": card.name,
            "dimension": card.dimension,
            "max_tokens": card.max_tokens,
            "fingerprint": card.fingerprint,
            "encoding": card.encoding,
        },
        "probes": list(_probes(engines, store, engine)),
        "depth": PROBE_DEPTH,
    }


def _probes(engines: Engines, store: Store, engine: Engine) -> Iterator[dict[str, Any]]:
    """Entries that should find themselves, spread over the store."""
    embedder_id = _embedder_id(engines, store, engine.leg)
    ids = sorted(engines.catalog.vectors.chunk_ids(store.id, embedder_id))
    step = max(1, len(ids) // PROBES)
    chosen = set(ids[::step][:PROBES])
    for entry in engines.catalog.vectors.entries(store.id, embedder_id, only=chosen):
        probe: dict[str, Any] = {"id": entry.chunk_id}  # Any: JSON values
        if entry.vector is not None:
            probe["vector"] = [float(x) for x in entry.vector]
        else:
            probe["text"] = keyword_text(entry.trail, entry.text)[:300]
        yield probe


def _judge(answer: dict[str, Any], probes: int) -> Verdict:
    if answer.get("error"):
        return Verdict(broken=str(answer["error"]))
    ids = frozenset(answer["ids"])
    tried = [hit for probe, hit in answer["hits"].items() if probe in ids]
    if tried and sum(tried) < PROBE_SHARE * len(tried):
        return Verdict(broken=f"only {sum(tried)} of {len(tried)} probes found themselves")
    if probes and not ids:
        return Verdict(broken="it is empty")
    return Verdict(ids=ids)


def _last_words(status: int, stderr: bytes) -> str:
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    said = f": {lines[-1][:200]}" if lines else ""
    how = f"ended with signal {-status}" if status < 0 else f"failed with status {status}"
    return f"the check {how}{said}"
