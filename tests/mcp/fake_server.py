"""An application held in memory, and a program that serves it over stdio.

Run as ``python fake_server.py [noisy]``; used by the tests that look at the wire.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import dataclass, field, replace

from pydantic import BaseModel

from localdb_core.builtin.tools import SPECS
from localdb_core.domain import (
    Chunk,
    Citation,
    Metadata,
    Resource,
    Score,
    SearchRequest,
    SearchResult,
    Span,
    Store,
    StoreNotFound,
    StoreStats,
)
from localdb_core.domain.block import BlockKind
from localdb_core.host.owned import Owned
from localdb_core.plugin import AppContext, ToolContext, ToolFailure, ToolResult, ToolSpec

SECRET = "/home/somebody/secret-diary.txt"


@dataclass
class Library:
    """Stores, documents and search in one; ``texts`` holds what is found."""

    stores: list[Store] = field(default_factory=list)
    resources: dict[str, list[Resource]] = field(default_factory=dict)
    pieces: dict[str, list[Chunk]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    scores: dict[str, Score] = field(default_factory=dict)
    candidates: int | None = None
    notices: tuple[str, ...] = ()
    requests: list[SearchRequest] = field(default_factory=list)

    def app(self) -> AppContext:
        return AppContext(stores=Stores(self), documents=Documents(self), search=Search(self))

    def add_store(self, store: Store) -> None:
        self.stores.append(store)
        self.resources.setdefault(store.id, [])

    def add(self, resource: Resource, chunks: list[Chunk], *, text: str | None = None) -> None:
        self.resources[resource.store_id].append(resource)
        self.pieces[resource.id] = chunks
        self.texts[resource.id] = text or "\n\n".join(chunk.text for chunk in chunks)


class Stores:
    def __init__(self, library: Library) -> None:
        self._library = library

    def list(self) -> list[Store]:
        return sorted(self._library.stores, key=lambda store: store.name)

    def resolve(self, name_or_id: str) -> Store:
        for key in ("id", "name"):
            for store in self._library.stores:
                if getattr(store, key) == name_or_id:
                    return store
        raise StoreNotFound(name_or_id)

    def stats(self, store: Store) -> StoreStats:
        resources = self._library.resources[store.id]
        chunks = sum(len(self._library.pieces[resource.id]) for resource in resources)
        return StoreStats(len(resources), chunks)


class Documents:
    def __init__(self, library: Library) -> None:
        self._library = library

    def find(self, resource_id, stores):
        for store in stores:
            for resource in self._library.resources[store.id]:
                if resource.id == resource_id:
                    return store, resource
        return None

    def text(self, store, resource_id):
        return self._library.texts[resource_id]

    def chunks(self, store, resource_id, *, offset=0, limit=None):
        found = self._in_order(resource_id)[offset:]
        return found if limit is None else found[:limit]

    def position(self, store, resource_id, *, chunk_id=None, block_seq=None):
        for place, chunk in enumerate(self._in_order(resource_id)):
            if chunk.id == chunk_id or (block_seq is not None and chunk.block_seq >= block_seq):
                return place
        return None

    def _in_order(self, resource_id):
        return sorted(
            self._library.pieces[resource_id], key=lambda c: (c.block_seq, c.seq_in_block)
        )

    def chunk_count(self, store, resource_id):
        return len(self._library.pieces[resource_id])

    def page(self, store, *, source_id, offset, limit):
        rows = [
            resource
            for resource in sorted(self._library.resources[store.id], key=lambda r: r.uri)
            if source_id in (None, resource.source_id)
        ]
        return rows[offset : offset + limit], len(rows)


class Search:
    def __init__(self, library: Library) -> None:
        self._library = library

    def search(self, request: SearchRequest) -> SearchResult:
        library = self._library
        library.requests.append(request)
        words = request.query.lower().split()
        hits = [
            Citation(
                store.ref, resource, chunk, library.scores.get(chunk.id, Score(fused=0.5, bm25=1.0))
            )
            for store in Stores(library).list()
            if request.stores is None or store.id in request.stores
            for resource in library.resources[store.id]
            for chunk in library.pieces[resource.id]
            if all(word in chunk.text.lower() for word in words)
        ]
        total = len(hits) if library.candidates is None else library.candidates
        return SearchResult(tuple(hits[: request.limit]), total, notices=library.notices)


TEXT = (
    "Meeting 2026-06-02: decided to adopt reciprocal rank fusion for combining dense and sparse "
    "retrieval results. Aardvark connectors are deferred to the next milestone."
)
NOTES = Store(id="01KTVGQ62TQN8X6XN9E5FDZN67", name="notes")
MEETING = Resource(
    id="5e16a53946004c13b941685cddaed55d9267965abe65462bbe75d8e6184f15e7",
    store_id=NOTES.id,
    source_id="01KTVH6AY4DC84HWW7M2PP4F0X",
    uri="file:///home/user/notes/meeting.txt",
    content_hash="226aa53267d613baa9aaf444cf661ef20a2e9d8e1e9d140819ee2f7044320e4b",
    metadata=Metadata(format="text/plain"),
    mime="text/plain",
    added_at="2026-06-11T14:17:30Z",
    policy_version="...",
)
MEETING_CHUNK = Chunk(
    id="0bbaaa6b64dffd8b232410017b224c7b499bc3fe235382bfaa8ea63b1e435824",
    resource_id=MEETING.id,
    block_seq=0,
    seq_in_block=0,
    block_kind=BlockKind.TEXT,
    text=TEXT,
    span=Span(0, 165),
)


def contract_library() -> Library:
    """The store and the document that the contract's examples show."""
    library = Library()
    library.add_store(NOTES)
    library.add(MEETING, [MEETING_CHUNK])
    library.scores[MEETING_CHUNK.id] = Score(
        fused=0.03278688524590164, dense=0.7099609375, bm25=3.0748
    )
    library.candidates = 3
    return library


def long_document(count: int, *, store: Store = NOTES) -> tuple[Resource, list[Chunk]]:
    """A document of ``count`` chunks, one per block."""
    resource = replace(MEETING, id=f"long-{count}", store_id=store.id, uri=f"file:///long-{count}")
    chunks = [
        Chunk(
            id=f"chunk-{seq}",
            resource_id=resource.id,
            block_seq=seq,
            seq_in_block=0,
            block_kind=BlockKind.TEXT,
            text=f"passage {seq}",
        )
        for seq in range(count)
    ]
    return resource, chunks


class NoArguments(BaseModel):
    """Nothing."""


class WaitArguments(BaseModel):
    """How long."""

    seconds: float = 0.5
    word: str | None = None


class Wait:
    """Takes its time."""

    def __init__(self, context: ToolContext) -> None:
        self.context = context

    def run(self, arguments: WaitArguments) -> ToolResult:
        time.sleep(arguments.seconds)
        return ToolResult("waited", data={"seconds": arguments.seconds})


class Meet:
    """Answers only when two calls are under way at once."""

    def __init__(self, context: ToolContext) -> None:
        self._barrier = threading.Barrier(2)

    def run(self, arguments: NoArguments) -> ToolResult:
        self._barrier.wait(timeout=30)
        return ToolResult("met")


class Crash:
    """Fails with a path in its message."""

    def __init__(self, context: ToolContext) -> None:
        pass

    def run(self, arguments: NoArguments) -> ToolResult:
        raise RuntimeError(f"cannot read {SECRET}")


class Leave:
    """Wants to end the process."""

    def __init__(self, context: ToolContext) -> None:
        pass

    def run(self, arguments: NoArguments) -> ToolResult:
        sys.exit(SECRET)


class Complain:
    """Has an error of its own."""

    def __init__(self, context: ToolContext) -> None:
        pass

    def run(self, arguments: NoArguments) -> ToolResult:
        raise ToolFailure("shelf_full", "the shelf is full")


class Shout:
    """Writes where only the protocol may be."""

    def __init__(self, context: ToolContext) -> None:
        print("being built")

    def run(self, arguments: NoArguments) -> ToolResult:
        print("printed", flush=True)
        os.write(1, b"written\n")
        os.system("echo from a child")
        return ToolResult("quiet")


class Linger:
    """Works until nobody waits any more, and then says so."""

    started = threading.Event()
    seen = threading.Event()

    def __init__(self, context: ToolContext) -> None:
        self.context = context

    def run(self, arguments: NoArguments) -> ToolResult:
        self.started.set()
        print("lingering", file=sys.stderr, flush=True)
        if self.context.cancel.wait(60):
            print("cancelled", file=sys.stderr, flush=True)
            self.seen.set()
        return ToolResult("lingered")


class Count:
    """Reports as it goes."""

    def __init__(self, context: ToolContext) -> None:
        self.context = context

    def run(self, arguments: NoArguments) -> ToolResult:
        for done in (1, 2, 3):
            self.context.progress(done, 3)
        return ToolResult("counted")


class Hang:
    """Does not look whether anybody waits."""

    def __init__(self, context: ToolContext) -> None:
        pass

    def run(self, arguments: NoArguments) -> ToolResult:
        print("hanging", file=sys.stderr, flush=True)
        threading.Event().wait()
        return ToolResult("never")


def extra(name: str, target: type, *, arguments: type = NoArguments, **changes) -> Owned[ToolSpec]:
    """A tool of the surface ``extra``, implemented in this file."""
    fields = {"surface": "extra", "title": name, "description": f"{name} something"} | changes
    return Owned(
        "acme",
        "localdb-acme",
        "1.0",
        ToolSpec(
            name=name,
            target=f"{__name__}:{target.__name__}",
            arguments=f"{__name__}:{arguments.__name__}",
            **fields,
        ),
    )


def core_tools() -> list[Owned[ToolSpec]]:
    return [Owned("builtin", "localdb-core", "0.1.0", spec) for spec in SPECS]


def extra_tools() -> list[Owned[ToolSpec]]:
    return [
        extra("wait", Wait, arguments=WaitArguments),
        extra("meet", Meet),
        extra("crash", Crash),
        extra("leave", Leave),
        extra("complain", Complain),
        extra("shout", Shout),
        extra("linger", Linger),
        extra("count", Count),
        extra("hang", Hang),
    ]


def main() -> None:
    from localdb_core.host.stdout import divert_stdout

    output = divert_stdout()
    from localdb_core.host.registry import Registry
    from localdb_core.mcp.server import build_server, instructions_for
    from localdb_core.mcp.stdio import serve
    from localdb_core.mcp.surfaces import Choice
    from localdb_core.mcp.table import ToolTable

    app = contract_library().app()
    registry = Registry(tools=tuple(core_tools() + extra_tools()))
    table = ToolTable.build(
        registry.tools,
        Choice.of(["all"], registry),
        context_for=lambda plugin: ToolContext(plugin, app=app),
    )
    server = build_server(table, instructions=instructions_for(app, table))
    protocols = os.environ.get("FAKE_PROTOCOLS", "").split()
    limit = int(os.environ.get("FAKE_LIMIT", 2**20))
    serve(server, output=output.fileno(), limit=limit, protocols=protocols)
    print("stopped", file=sys.stderr)


if __name__ == "__main__":
    main()
