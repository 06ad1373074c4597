"""Light descriptions of components: small, frozen, standard library only.

Each names its code by ``target`` (``"module:attribute"``), which is imported when
it is first needed and called with a context (:mod:`localdb_core.plugin.context`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Encoding = Literal["float32", "binary"]
Leg = Literal["dense", "sparse"]
Effects = Literal["read", "write", "destructive"]


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
        surface: the named tool set it belongs to; ``core`` is the contract's five.
        title: for people.
        description: for the model: purpose, when to use, what comes back.
        arguments: ``"module:Model"``, a pydantic model of the input.
        effects: what calling it may change.
        idempotent: calling twice changes no more than calling once.
    """

    surface: str
    title: str
    description: str
    arguments: str
    effects: Effects = "read"
    idempotent: bool = True


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
