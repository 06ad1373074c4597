"""The config file, version 1, as frozen pydantic models (spec §2.2).

Only shape and range are judged here. Whether a named parser, embedder or index is
installed is known to whoever holds the registry; :meth:`Config.wrote` tells it
whether the user asked for it or merely got the default.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

DEFAULT_PARSERS: Final = ("pdf", "epub", "office", "html", "markdown", "plaintext")

_HEADER_VALUE: Final = re.compile(r"[!-~]([ -~]*[!-~])?")

Name = Annotated[str, Field(min_length=1)]
# YAML has no tuples: lists are turned into them, their items stay strict.
Names = Annotated[tuple[Name, ...], Field(strict=False)]
Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """A mapping of the file: frozen, strict, unknown keys refused (L-CFG-10)."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )


class Server(Section):
    """The daemon."""

    bind: Name = "127.0.0.1"
    """Address the daemon listens on."""
    port: Annotated[int, Field(ge=0, le=65535)] = 7700
    """Port it listens on; 0 asks the system for a free one."""
    job_workers: Positive = 1
    """Index jobs that may run side by side, each on a store of its own."""


def _no_nul(path: str) -> str:
    if "\0" in path:
        raise ValueError("must not contain a NUL character")
    return path


Folder = Annotated[
    Name, AfterValidator(_no_nul), Field(json_schema_extra={"pattern": r"^[^\u0000]*$"})
]


class Folders(Section):
    """Where things are kept; null is the usual place of the platform."""

    data: Folder | None = None
    """The database and the indexes."""
    models: Folder | None = None
    """Downloaded models."""
    logs: Folder | None = None
    """Log files."""


SIZABLE: Final = ("code", "messages", "prose")
_SIZE: Final = re.compile(r"1[6-9]|[2-9][0-9]|[1-9][0-9]{2,4}")


def _is_preset(name: str) -> str:
    if name not in SIZABLE:
        raise ValueError(f"is not a preset; there are {', '.join(SIZABLE)}")
    return name


def _is_size(text: str) -> str:
    if not _SIZE.fullmatch(text):
        raise ValueError("must be a whole number from 16 to 99999, in quotes")
    return text


class Chunking(Section):
    """How texts are cut."""

    preset_overrides: Annotated[
        dict[
            Annotated[str, AfterValidator(_is_preset)],
            Annotated[
                str,
                AfterValidator(_is_size),
                Field(json_schema_extra={"pattern": f"^({_SIZE.pattern})$"}),
            ],
        ],
        Field(json_schema_extra={"propertyNames": {"enum": list(SIZABLE)}}),
    ] = Field(default_factory=dict)
    """Largest chunks: prose and messages in tokens, code in characters, as in prose: "384"."""


class Embedding(Section):
    """Which model turns texts into vectors."""

    model: Name = "all-minilm-l6-v2"
    """A model name of the provider, or a local folder."""
    provider: Name = "onnx"
    """An installed embedder: a short name, or plugin/name."""


class Indexing(Section):
    """What makes the indexing policy: a change means indexing again."""

    chunking: Chunking = Chunking()
    """How texts are cut."""
    embedding: Embedding = Embedding()
    """Which model turns texts into vectors."""
    parsers: Names = DEFAULT_PARSERS
    """Parsers in the order they are tried; a written list must be installed."""
    max_file_mib: Positive = 512
    """Larger files are left unread and count as unsupported; not part of the policy."""


class Defaults(Section):
    """Defaults of every store."""

    indexing: Indexing = Indexing()
    """How documents are read, cut and embedded."""


class Index(Section):
    """Which engine answers each half of a search."""

    dense: Name = "chroma"
    """Vectors: an installed dense index, or exact for the built-in one."""
    sparse: Name = "whoosh"
    """Words: an installed sparse index, or fts5 for the built-in one."""


class Search(Section):
    """Searching."""

    ranker: Name | None = None
    """An installed ranker that orders the best hits again; null is none."""
    ranker_candidates: Positive = 50
    """Hits the ranker sees."""
    ranker_budget_ms: Positive = 2000
    """Milliseconds it may take before its answer is given up."""


class Plugins(Section):
    """Which plugins are loaded, and their settings."""

    disable: Names = ()
    """Plugins or distributions that are not loaded."""
    only: Names | None = None
    """If given, only these plugins or distributions are loaded."""
    pin: dict[str, str] = Field(default_factory=dict)
    """Plugin name: the distribution that may use it."""
    auto_parsers: bool = True
    """Also try installed parsers that defaults.indexing.parsers does not list."""
    chunkers: Names = ()
    """Chunkers of plugins that are asked before the built-in ones, in this order."""
    config: dict[str, dict[str, Any]] = Field(default_factory=dict)  # Any: the plugins' own keys
    """One mapping per plugin, checked by that plugin."""


class Provider(Section):
    """One hosted embedder."""

    name: Name
    """What you call it."""
    kind: Name
    """The embedder it configures."""
    base_url: Name | None = None
    """Where it is, if not the usual place."""
    api_key_env: Name | None = None
    """The environment variable that holds the key."""


class RateLimit(Section):
    """How fast one host is asked."""

    requests_per_second: Positive = 1
    """Requests per second to one host."""
    burst: Positive = 4
    """Requests that may be sent at once after a pause."""


class Http(Section):
    """Requests to web sites and hosted embedders."""

    user_agent: Annotated[
        str | None, Field(json_schema_extra={"pattern": f"^{_HEADER_VALUE.pattern}$"})
    ] = None
    """What localdb calls itself; null is its name and version."""
    max_retries: Count = 3
    """Times a failed request is repeated."""
    rate_limit: RateLimit = RateLimit()
    """How fast one host is asked."""

    @field_validator("user_agent")
    @classmethod
    def _legal_header(cls, value: str | None) -> str | None:
        if value is not None and not _HEADER_VALUE.fullmatch(value):
            raise ValueError("must be printable ASCII without spaces at its ends")
        return value


class Config(Section):
    """The whole file.

    config = load_config(path)
    config.defaults.indexing.embedding.model
    config.wrote("index.dense")     # asked for, or only the default?
    """

    version: Annotated[int, Field(json_schema_extra={"const": 1})] = 1
    """Version of this file's format."""
    schema_hint: str | None = Field(default=None, alias="$schema")
    """For editors; ignored."""
    server: Server = Server()
    """The daemon."""
    paths: Folders = Folders()
    """Where things are kept."""
    defaults: Defaults = Defaults()
    """Defaults of every store."""
    index: Index = Index()
    """Which engine answers each half of a search."""
    search: Search = Search()
    """Searching."""
    plugins: Plugins = Plugins()
    """Which plugins are loaded, and their settings."""
    providers: Annotated[tuple[Provider, ...], Field(strict=False)] = ()
    """Hosted embedders."""
    http: Http = Http()
    """Requests to web sites and hosted embedders."""

    @field_validator("version")
    @classmethod
    def _known_version(cls, value: int) -> int:
        if value != 1:
            raise ValueError(f"must be 1, not {value}")
        return value

    def wrote(self, key: str) -> bool:
        """Whether the file holds this key, written with dots: ``index.dense``."""
        place: object = self
        for part in key.split("."):
            if isinstance(place, Section):
                if part not in place.model_fields_set:
                    return False
                place = getattr(place, part)
            elif isinstance(place, dict) and part in place:
                place = place[part]
            else:
                return False
        return True
