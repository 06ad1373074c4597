"""What core itself offers keeps the contracts that plugins inherit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from localdb_core.app import LocalDB
from localdb_core.domain import Block, BlockKind, Source
from localdb_core.testing.chunker import ChunkerContract
from localdb_core.testing.parser import ParserContract, Sample
from localdb_core.testing.source import SourceContract, source_row
from localdb_core.testing.tool import ToolContract

ROWS = "\n".join(f"| ship {n} | {n * 7} tons |" for n in range(60))
TURNS = [
    Block(BlockKind.MESSAGE, f"Turn {n} about the lease.", seq=n, details={"sender": "Ada"})
    for n in range(20)
]


class TestMarkdown(ParserContract):
    component = "core/markdown"
    samples = (
        Sample(
            "a.md",
            contains=["The lease ends."],
            title="Lease",
            content=b"---\ntitle: Lease\n---\n\nThe lease ends.\n",
        ),
    )


class TestPlainText(ParserContract):
    component = "core/plaintext"
    samples = (Sample("a.txt", contains=["The lease ends."], content=b"The lease ends.\n"),)


class TestProse(ChunkerContract):
    component = "core/prose"


class TestCode(ChunkerContract):
    component = "core/code"
    keeps_target = False  # code is measured in characters


class TestTable(ChunkerContract):
    component = "core/table"
    samples = ([Block(BlockKind.TABLE, f"| ship | tons |\n| --- | --- |\n{ROWS}")],)
    keeps_target = False  # what is no table is cut like code


class TestMessages(ChunkerContract):
    component = "core/messages"
    samples = (TURNS,)


class TestPassthrough(ChunkerContract):
    component = "core/passthrough"
    keeps_target = False  # one chunk for each block


class TestPath(SourceContract):
    component = "core/path"
    expected = ("a.md", "b.txt", "deep.txt")

    @classmethod
    def fill(cls, folder: Path) -> Source:
        (folder / "folder").mkdir()
        for name in ("b.txt", "a.md", "folder/deep.txt", "other.zip"):
            (folder / name).write_text(name)
        return source_row("path", root=str(folder))

    @classmethod
    def unavailable(cls, folder: Path) -> Source:
        return source_row("path", root=str(folder / "missing"))


class CoreTool(ToolContract):
    closed = False  # the contract's clients may send what an older one knew


def first_document(app: LocalDB) -> dict[str, Any]:
    store = app.stores.resolve("default")
    (found, *_), _ = app.documents.page(store, source_id=None, offset=0, limit=1)
    return {"store": "default", "id": found.id}


class TestSearchTool(CoreTool):
    component = "core/search"

    @classmethod
    def calls(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [{"query": "lease"}, {"query": "lease", "limit": 1, "stores": ["default"]}]

    @classmethod
    def refused(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [{"query": "lease", "stores": ["missing"]}, {"query": "lease", "limit": 0}]


class TestListStoresTool(CoreTool):
    component = "core/list_stores"


class TestListDocumentsTool(CoreTool):
    component = "core/list_documents"

    @classmethod
    def calls(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [{"store": "default"}, {"store": "default", "offset": 1}]

    @classmethod
    def refused(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [{"store": "missing"}, {"store": "default", "limit": 0}]


class TestGetDocumentTool(CoreTool):
    component = "core/get_document"

    @classmethod
    def calls(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [first_document(app)]

    @classmethod
    def refused(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [{"id": "missing"}, {}]


class TestGetChunksTool(CoreTool):
    component = "core/get_chunks"

    @classmethod
    def calls(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        return [{"resource_id": first_document(app)["id"]}]

    @classmethod
    def refused(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        document = first_document(app)["id"]
        return [{"resource_id": "missing"}, {"resource_id": document, "offset": -1}]
