"""Identifiers: content hashes, derived ids and ULIDs.

Things that somebody created get a ULID; things derived from content get
BLAKE3-256 in lower-case hex, so ids never depend on the machine or the clock.
Formulas: spec §1.1 (L-DOM-01 … L-DOM-05).
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NewType

from blake3 import blake3

from localdb_core.domain.block import Block

StoreId = NewType("StoreId", str)
SourceId = NewType("SourceId", str)
ResourceId = NewType("ResourceId", str)
ChunkId = NewType("ChunkId", str)

CHUNK_ALGORITHM = "pyloc-md-v2+trail1"
"""Names how text is cut and what is put in front of a chunk before embedding.

Whoever moves a chunk boundary, a chunk id or the trail template changes this.
"""

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID = re.compile(r"[0-9A-Z]{26}")
_UUID = re.compile(r"[0-9a-fA-F-]{36}")
_ulid_lock = threading.Lock()
_last_ulid = 0


def content_hash(blocks: Iterable[Block]) -> str:
    """Hash of a resource's text: kind, text and page of every block, in order."""
    parts = []
    for block in blocks:
        suffix = f"\x01p{block.page}" if block.page is not None else ""
        parts.append(f"{block.kind}:{block.text}{suffix}")
    return blake3("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def resource_id(uri: str, content: str) -> ResourceId:
    """Id of a resource; ``content`` is the hex text of its content hash."""
    return ResourceId(blake3((uri + content).encode()).hexdigest())


def chunk_id(resource: str, *, block_seq: int, text: str, seq_in_block: int) -> ChunkId:
    """Id of a chunk. Compute it only after both integers are final."""
    hasher = blake3(resource.encode())
    hasher.update(block_seq.to_bytes(4, "little"))
    hasher.update(text.encode("utf-8", "surrogatepass"))
    hasher.update(seq_in_block.to_bytes(4, "little"))
    return ChunkId(hasher.hexdigest())


def raw_hash(data: bytes) -> str:
    """Hash of a file's bytes, for skipping what did not change (S-3)."""
    return blake3(data).hexdigest()


def policy_document(
    *,
    parsers: Sequence[str],
    provider: str,
    model: str,
    preset_overrides: Mapping[str, str] | None = None,
    algorithm: str = CHUNK_ALGORITHM,
) -> dict[str, object]:
    """The indexing policy as it is stored and hashed; parser order matters."""
    return {
        "chunking": {
            "algorithm": algorithm,
            "preset_overrides": dict(sorted((preset_overrides or {}).items())),
        },
        "embedding": {"model": model, "provider": provider},
        "parsers": list(parsers),
    }


def policy_version(policy: Mapping[str, object]) -> str:
    """Hash of :func:`policy_document`: compact JSON, keys sorted."""
    text = json.dumps(policy, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return blake3(text.encode()).hexdigest()


def new_ulid(now_ms: int | None = None) -> str:
    """A new ULID; within one process each is greater than the one before."""
    global _last_ulid
    stamp = int(time.time() * 1000) if now_ms is None else now_ms
    with _ulid_lock:
        value = (stamp << 80) | secrets.randbits(80)
        if value <= _last_ulid and now_ms is None:
            value = _last_ulid + 1
        _last_ulid = max(value, _last_ulid)
    return "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -1, -5))


def looks_like_id(text: str) -> bool:
    """Whether a command-line argument is meant as an id and not as a path or URL."""
    return "/" not in text and bool(_ULID.fullmatch(text) or _UUID.fullmatch(text))
