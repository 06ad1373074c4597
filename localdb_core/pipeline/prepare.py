"""From a parsed file to a draft: blocks, chunks, and the texts that need a vector."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from blake3 import blake3

from localdb_core.domain.block import Block
from localdb_core.domain.chunk import Chunk
from localdb_core.domain.errors import InternalError, UnsupportedFormat
from localdb_core.domain.ids import content_hash, resource_id
from localdb_core.domain.metadata import REPEATED, SCALAR, Metadata
from localdb_core.domain.resource import Resource
from localdb_core.domain.store import Source, Store
from localdb_core.pipeline.chunk import OwnedChunker, chunk_document
from localdb_core.pipeline.language import detect
from localdb_core.pipeline.parse import Parsed
from localdb_core.pipeline.plan import Current
from localdb_core.pipeline.presets import TokenMeasure, preset_for, sizing_for
from localdb_core.pipeline.recipe import CHARACTERS, Recipe, label
from localdb_core.pipeline.structure import structure_of
from localdb_core.pipeline.trail import embedding_texts, keyword_trail
from localdb_core.plugin import Embedder, EmbedderCard, Item

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_HASH_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class EmbedderHandle:
    """The embedder of a run: what it is called in the config, and how to measure by it.

    ``card`` says under which fingerprint its vectors are stored: that of the store when
    another backend of its group made the first ones (D-08).
    """

    embedder: Embedder
    card: EmbedderCard
    provider: str
    model: str
    callers: int
    measure: TokenMeasure


@dataclass(frozen=True, slots=True)
class Draft:
    """A document whose chunks have no vectors yet."""

    resource: Resource
    blocks: tuple[Block, ...]
    chunks: tuple[Chunk, ...] = ()
    trails: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    text_hashes: tuple[bytes, ...] = ()
    warnings: tuple[str, ...] = ()
    front_matter_read: bool = False
    declined: tuple[str, ...] = ()


class Preparer:
    """Makes drafts of one source's files; thread-safe.

    ``handle`` gives the embedder when the first text is to be measured, None when
    there is none: then sizes are in characters (L-CHK-01).
    """

    def __init__(
        self,
        store: Store,
        source: Source,
        *,
        now: Current,
        chunkers: Sequence[OwnedChunker],
        handle: Callable[[], EmbedderHandle | None],
    ) -> None:
        self._store = store
        self._source = source
        self._now = now
        self._chunkers = chunkers
        self._handle = handle

    def resource(self, item: Item, parsed: Parsed, raw: str, media_type: str | None) -> Draft:
        """Blocks and identity, without chunks: enough to see whether anything changed."""
        structure = structure_of(parsed.document)
        blocks = tuple(_clean_block(block) for block in structure.blocks)
        metadata = _clean_metadata(parsed.document.metadata)
        if metadata.format is None:
            metadata = metadata.with_(format=media_type or item.mime)
        digest = content_hash(blocks)
        language = metadata.language or detect(_sample(blocks))
        resource = Resource(
            id=resource_id(item.locator, digest),
            store_id=self._store.id,
            source_id=self._source.id,
            uri=item.uri,
            content_hash=digest,
            metadata=metadata,
            ingestor_kind=self._source.ingestor_kind,
            title=metadata.title,
            mime=item.mime,
            language=language,
            added_at=item.added_at,
            modified_at=item.added_at,
            policy_version=self._now.policy_version,
            size=item.size,
            mtime_ns=item.mtime_ns,
            raw_hash=raw,
            parser=parsed.parser.full_id,
            parser_version=parsed.parser.value.version,
        )
        return Draft(
            resource,
            blocks,
            warnings=(
                *map(str, parsed.document.warnings),
                *((structure.problem,) if structure.problem else ()),
            ),
            front_matter_read=parsed.document.front_matter_read,
            declined=tuple(label(owned) for owned in parsed.declined),
        )

    def stored(
        self, item: Item, resource: Resource, blocks: Sequence[Block], recipe: Recipe
    ) -> Draft:
        """The draft of a document as it is stored, to be cut again."""
        resource = replace(
            resource,
            source_id=self._source.id,
            policy_version=self._now.policy_version,
            added_at=item.added_at,
            size=item.size,
            mtime_ns=item.mtime_ns,
        )
        return Draft(
            resource,
            tuple(blocks),
            front_matter_read=recipe.front_matter_read,
            declined=recipe.declined,
        )

    def recorded(self, draft: Draft, recipe: Recipe) -> Draft:
        """The draft of a document that stays cut as it was."""
        recipe = replace(recipe, chain=self._now.digest, declined=draft.declined)
        return replace(draft, resource=replace(draft.resource, chunking=recipe.to_text()))

    def chunked(self, draft: Draft, name: str) -> Draft:
        """The draft with its chunks and the texts that stand for them in each leg."""
        handle = self._handle()
        preset = preset_for(self._source.preset, draft.resource.mime, name)
        presets = self._now.cutting.presets
        sizing = (
            sizing_for(preset, presets=presets)
            if handle is None
            else sizing_for(
                preset,
                handle.measure,
                max_tokens=handle.card.max_tokens,
                added=handle.measure.added,
                presets=presets,
            )
        )
        chunks = chunk_document(
            draft.blocks,
            resource_id=draft.resource.id,
            chunkers=self._chunkers,
            preset=preset,
            sizing=sizing,
            front_matter_read=draft.front_matter_read,
        )
        title = draft.resource.title
        texts: Sequence[str] = ()
        if handle is not None:
            limit = handle.card.max_tokens - handle.measure.added
            texts = embedding_texts(chunks, title, limit=limit, measure=handle.measure)
        recipe = self._recipe(draft, preset, chunks, handle)
        return replace(
            draft,
            resource=replace(draft.resource, chunking=recipe.to_text()),
            chunks=tuple(chunks),
            trails=tuple(keyword_trail(chunk, title) for chunk in chunks),
            texts=tuple(texts),
            text_hashes=tuple(_text_hash(text) for text in texts),
        )

    def _recipe(
        self, draft: Draft, preset: str, chunks: Sequence[Chunk], handle: EmbedderHandle | None
    ) -> Recipe:
        cutting = self._now.cutting
        kinds = sorted({str(chunk.block_kind) for chunk in chunks})
        return Recipe(
            preset=preset,
            sizes=cutting.sizes(preset),
            measure=CHARACTERS if handle is None else handle.card.fingerprint,
            chunkers={kind: cutting.chunker(kind, preset) or "" for kind in kinds},
            front_matter_read=draft.front_matter_read,
            chain=self._now.digest,
            declined=draft.declined,
        )


def check_size(item: Item, *, max_file_mib: int) -> None:
    """Refuse a file that is too large to be read (L-PAR-17), by its size when it was listed.

    Unsupported rather than an error: it is a choice of the config, nothing is broken,
    and ``--strict`` passes. Raises UnsupportedFormat.
    """
    if item.size is not None and item.size > max_file_mib * 1024**2:
        raise UnsupportedFormat(
            f"it has {item.size / 1024**2:,.1f} MiB; files above {max_file_mib} MiB are not read"
            " (defaults.indexing.max_file_mib in the config)"
        )


def hash_file(path: Path) -> str:
    """Hash of a file's bytes, read in pieces. Raises OSError."""
    hasher = blake3()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            hasher.update(piece)
    return hasher.hexdigest()


def _text_hash(text: str) -> bytes:
    return blake3(text.encode()).digest(_HASH_BYTES)


def _sample(blocks: Sequence[Block]) -> str:
    """The beginning of the running text, for telling the language."""
    parts: list[str] = []
    size = 0
    for block in blocks:
        if block.kind in ("text", "message", "segment", "heading", "table"):
            parts.append(block.text)
            size += len(block.text)
        if size > 8000:
            break
    return "\n".join(parts)


def _clean_block(block: Block) -> Block:
    """The block with lone surrogates, which no encoding can store, as U+FFFD."""
    text, details = _clean_value(block.text), _clean_value(block.details)
    if text == block.text and details == block.details:
        return block
    return replace(block, text=text, details=details)


def _clean_value(value: Any) -> Any:  # Any: JSON values
    """The same JSON value with clean strings. Raises InternalError for what is none."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_clean_value(str(key)): _clean_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_value(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    raise InternalError(f"the parser gave a {type(value).__name__}, which cannot be stored")


def _clean_metadata(metadata: Metadata) -> Metadata:
    changes: dict[str, Any] = {}  # Any: fields of the metadata
    for name in SCALAR:
        value = getattr(metadata, name)
        if value is not None:
            changes[name] = _clean_text(value) or None
    for name in REPEATED:
        changes[name] = tuple(t for value in getattr(metadata, name) if (t := _clean_text(value)))
    changes["extra"] = _clean_value(metadata.extra)
    return metadata.with_(**changes)


def _clean_text(value: str) -> str:
    return _SURROGATE.sub("\ufffd", value).replace("\x00", "").strip()
