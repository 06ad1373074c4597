"""Our own distributions and what each provides.

Used for two things only: to tell a user what to install, and to let a
distribution of ours keep a name that somebody else's claims as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from localdb_core.host.kinds import Kind

CORE: Final = "core"
"""Name of the plugin that ships inside ``localdb-core``."""

CORE_DISTRIBUTION: Final = "localdb-core"

DEFAULT_PARSERS: Final = ("pdf", "epub", "office", "html", "markdown", "plaintext")
"""The parser order of a config that does not write one."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One distribution: the plugin name it registers and its components."""

    distribution: str
    plugin: str
    components: tuple[tuple[Kind, str], ...] = ()


OFFERS: Final[tuple[Offer, ...]] = (
    Offer(CORE_DISTRIBUTION, CORE, (("parser", "markdown"), ("parser", "plaintext"))),
    Offer("localdb-chroma", "chroma", (("index", "chroma"),)),
    Offer("localdb-whoosh", "whoosh", (("index", "whoosh"),)),
    Offer("localdb-tantivy", "tantivy", (("index", "tantivy"),)),
    Offer("localdb-faiss", "faiss", (("index", "faiss"),)),
    Offer("localdb-postgres", "postgres", (("index", "pgvector"), ("index", "tsvector"))),
    Offer("localdb-milvus", "milvus", (("index", "milvus"), ("index", "milvus-sparse"))),
    Offer("localdb-onnx", "onnx", (("embedder", "onnx"),)),
    Offer("localdb-static", "static", (("embedder", "static"),)),
    Offer("localdb-multilingual", "multilingual", (("embedder", "multilingual"),)),
    Offer(
        "localdb-openai",
        "openai",
        (
            ("embedder", "openai-compatible"),
            ("embedder", "perplexity"),
            ("embedder", "voyage"),
        ),
    ),
    Offer("localdb-pdf", "pdf", (("parser", "pdf"),)),
    Offer("localdb-pdfium", "pdfium", (("parser", "pdfium"),)),
    Offer("localdb-epub", "epub", (("parser", "epub"),)),
    Offer("localdb-html", "html", (("parser", "html"),)),
    Offer("localdb-office", "office", (("parser", "office"),)),
    Offer("localdb-mail", "mail", (("parser", "mail"),)),
    Offer("localdb-code", "code", (("parser", "code"), ("chunker", "code"))),
    Offer("localdb-web", "web", (("source", "url"), ("source", "feed"))),
    Offer("localdb-rerank", "rerank"),
    Offer("localdb-context", "context"),
    Offer("localdb-vault", "vault"),
)


def normalised(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


_DISTRIBUTIONS: Final = frozenset(offer.distribution for offer in OFFERS)


def is_first_party(distribution: str) -> bool:
    """Whether this distribution is one of ours, by its exact name."""
    return normalised(distribution) in _DISTRIBUTIONS


def provider_of(kind: Kind, name: str) -> Offer | None:
    """The distribution of ours known to have this component; full ids work too."""
    plugin, _, short = name.rpartition("/")
    for offer in OFFERS:
        if (kind, short) in offer.components and plugin in ("", offer.plugin):
            return offer
    return None


def install_line(offer: Offer) -> str:
    """What to type to get it."""
    return f"pip install {offer.distribution}"
