"""Light descriptions of components: small, frozen, standard library only.

Each names its code by ``target`` (``"module:attribute"``), which is imported when
it is first needed and called with a context (:mod:`localdb_core.plugin.context`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Encoding = Literal["float32", "binary"]
Leg = Literal["dense", "sparse"]
Effects = Literal["read", "write", "destructive"]

CORE_SURFACE: Final = "core"
"""The wire contract's five tools; no plugin adds to it."""

ALLOW_WRITE: Final = "allow-write"
"""The start flag of tools that write and name no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Fields every description has.

    Attributes:
        name: unique within its plugin and kind; people write it in the config.
        target: ``"module:attribute"`` of the code.
        summary: one line, shown by ``localdb plugin info``.
    """

    name: str
    target: str
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserSpec(Spec):
    """A parser and the files it claims.

    Attributes:
        media_types: such as ``text/rtf``.
        suffixes: with the dot, lower case: ``.rtf``.
        filenames: whole names, compared as they are: ``Cargo.lock``.
        magic: byte prefixes, compared after a byte-order mark and white space.
        version: raise it when the output changes; documents made by an older
            version are parsed again at the next run.
        runs: ``process`` (a worker process, so that a hang, a crash or a call of
            ``os._exit`` costs one document) or ``thread``, faster for small files, for
            parsers in plain Python that are known to end: nothing can end a thread, so
            without progress for ``stall_limit`` it is only told about, and ``total_limit``
            and Ctrl-C reach it when it reports progress.
        stall_limit: seconds without progress before the document is given up.
        total_limit: seconds for the whole document.
        memory_limit: bytes of address space of the worker process; None is no limit.
    """

    media_types: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    version: str = "1"
    runs: Literal["thread", "process"] = "process"
    stall_limit: float = 30.0
    total_limit: float = 600.0
    memory_limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderSpec(Spec):
    """An embedder: the light half; runtime facts stand in its ``EmbedderCard``.

    Attributes:
        models: names or ``*`` patterns of the models it serves; empty is any.
        encoding: how vectors are stored.
        uses_context: has ``embed_document``.
        needs_network: cannot work offline.
        callers: threads that may call ``embed`` side by side and are worth it.
        group: embedders of one group serve the same model and may be exchanged
            without re-embedding.
    """

    models: tuple[str, ...] = ()
    encoding: Encoding = "float32"
    uses_context: bool = False
    needs_network: bool = False
    callers: int = 1
    group: str | None = None


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """Facts about a loaded embedder; the fingerprint identifies its vectors.

    Attributes:
        name: model name, for people.
        dimension: length of a vector.
        max_tokens: longest input, prefix and special tokens included.
        fingerprint: hash over weights, tokenizer, pooling, prefixes, cap and precision:
            equal fingerprints, equal vectors.
        prefixes: what is put before a text, by role; already applied by ``embed``.
        languages: BCP 47 tags the model knows; None is unknown or many.
        batch_invariant: a vector does not depend on its neighbours in a call.
    """

    name: str
    dimension: int
    max_tokens: int
    fingerprint: str
    encoding: Encoding = "float32"
    space: Literal["cosine", "dot"] = "cosine"
    prefixes: Mapping[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] | None = None
    licence: str = ""
    batch_invariant: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSpec(Spec):
    """An index: one leg; one instance, one folder and one writer lock per store.

    Attributes:
        leg: ``dense`` gets vectors, ``sparse`` gets texts.
        encodings: of the vectors that a dense leg can hold.
        persistent: keeps its entries in its folder between runs.
    """

    leg: Leg
    encodings: tuple[Encoding, ...] = ("float32",)
    persistent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RankerSpec(Spec):
    """A ranker, which orders the best hits of a search again.

    Attributes:
        top: how many hits it wants to see at most; None leaves that to
            ``search.ranker_candidates``, which is also the ceiling.
        needs_network: cannot work offline.
    """

    top: int | None = None
    needs_network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec(Spec):
    """A tool an agent may call.

    Attributes:
        surface: the named tool set it belongs to; ``core`` is the contract's five, and
            closed to plugins. A surface that no :class:`SurfaceSpec` describes has the
            usual rules.
        title: for people.
        description: for the model: purpose, when to use, what comes back.
        arguments: ``"module:Model"``, a pydantic model of the input. On every surface but
            ``core`` it is closed: what it does not name is refused.
        result: ``"module:Model"``, a pydantic model of :attr:`ToolResult.data`; its schema
            is shown to agents and every answer is held against it. Without one, data is
            sent as it is and agents cannot know its shape.
        effects: what calling it may change.
        idempotent: calling twice changes no more than calling once.
        open_world: reaches beyond this machine, such as to the web.
        flag: the start flag without which it is not offered. A tool that does more than
            read always has one: ``allow-write`` when it names none.
    """

    surface: str
    title: str
    description: str
    arguments: str
    result: str | None = None
    effects: Effects = "read"
    idempotent: bool = True
    open_world: bool = False
    flag: str | None = None

    @property
    def needed_flag(self) -> str | None:
        """The start flag it needs, said or implied."""
        return self.flag or (None if self.effects == "read" else ALLOW_WRITE)


@dataclass(frozen=True, slots=True)
class SurfaceFlag:
    """A start flag: ``localdb mcp --surface NAME --FLAG``.

    Attributes:
        name: without dashes in front, such as ``allow-import``.
        help: one line, shown by ``localdb plugin info``.
    """

    name: str
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSpec(Spec):
    """A named set of tools and resources, and the rules they share.

    ``localdb mcp --surface NAME`` serves it alone under the tools' own names. It is a
    description only and has no code: ``target`` stays empty.

    Attributes:
        instructions: what a host tells its model when this surface is served; the
            important sentence first, since hosts cut at 2,048 characters.
        argument_errors: what answers arguments that do not fit, and faults of a tool:
            ``tool`` a result with ``isError``, ``protocol`` a JSON-RPC error (-32602,
            -32603).
        protocols: the MCP versions it answers when it is served alone, such as
            ``("2026-07-28",)``; empty is every one that localdb speaks.
        flags: start flags that tools name in ``ToolSpec.flag``, beside ``allow-write``.
        result_cap: bytes of the largest answer, as JSON; None is no limit.
    """

    target: str = ""
    instructions: str = ""
    argument_errors: Literal["tool", "protocol"] = "tool"
    protocols: tuple[str, ...] = ()
    flags: tuple[SurfaceFlag, ...] = ()
    result_cap: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSpec(Spec):
    """Something an agent may read by its URI. Few hosts show these: what matters is a tool.

    ``target`` is called with a ``ToolContext`` and makes a ``ResourceReader``.

    Attributes:
        surface: the surface it belongs to, never ``core``.
        uri_template: RFC 6570, such as ``notes://day/{date}``; without a variable it is one
            resource, which is listed by name.
        title: for people.
        description: for the model.
        media_type: of what is read.
    """

    surface: str
    uri_template: str
    title: str = ""
    description: str = ""
    media_type: str = "text/plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec(Spec):
    """A kind of source, such as ``path``.

    Attributes:
        kind: what a source of this kind is stored as.
        can_observe_all: False when absence of an item never means it is gone.
    """

    kind: str
    can_observe_all: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkerSpec(Spec):
    """A chunker and the block kinds it claims.

    Attributes:
        claims: kinds of blocks, such as ``table``.
        presets: narrows the claim to files of these presets; empty is all.
        scope: ``document`` for a chunker that must see every claimed block at once.
        version: raise it when it cuts otherwise; documents that an older version cut are
            cut again at the next run, from the stored blocks.
    """

    claims: tuple[str, ...]
    presets: tuple[str, ...] = ()
    scope: Literal["block", "document"] = "block"
    version: str = "1"
