"""The one exception tree.

LocaldbError
├── NotFound
│   ├── StoreNotFound, SourceNotFound, ResourceNotFound, JobNotFound, ChunkNotFound
├── Conflict
│   ├── RuntimeStateLocked, DaemonRunning, IndexInProgress, JobCancelled, JobAlreadyTerminal
├── BadInput
│   ├── InvalidConfig ─ SchemaMismatch, StaleIndex
│   ├── InvalidRequest
│   ├── UnsupportedFormat
│   └── ExtractionFailed
├── Unavailable
│   ├── DaemonUnreachable, ProviderUnavailable, ModelMissing, RateLimited, StorageUnavailable
├── PluginError
├── Unauthorized, Forbidden
└── InternalError

Each leaf carries a stable ``code``, the process exit status and the HTTP status.
``bare`` is the message as it was raised; ``str(error)`` adds the prefix of its code.
"""

from __future__ import annotations

import re
import secrets
from typing import ClassVar, Final, Self


class LocaldbError(Exception):
    """Anything localdb refuses to do, with a stable code and a way out.

    ``str(error)`` is what a person reads; ``bare`` leaves out the prefix.
    """

    code: ClassVar[str] = "internal"
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    prefix: ClassVar[str] = ""
    usual: ClassVar[str] = ""
    """What is said when there is nothing to add."""
    sent_bare: ClassVar[bool] = False
    """Whether the prefix stays behind on the wire; the receiver's own class adds it."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.bare = message or self.usual
        self.context: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ": ".join((*self.context, self.prefix + self.bare))

    @property
    def wire(self) -> str:
        """The message as it travels in ``{code, message}`` (spec §9)."""
        return ": ".join((*self.context, self.bare)) if self.sent_bare else str(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (type(self), self.bare, self.context)

    def within(self, *context: str) -> Self:
        """Say where it happened (a URI, a parser); outermost first."""
        self.context = tuple(part for part in context if part) + self.context
        return self


def _revive(kind: type[LocaldbError], bare: str, context: tuple[str, ...]) -> LocaldbError:
    error = kind.__new__(kind)
    LocaldbError.__init__(error, bare)
    error.context = context
    return error


class NotFound(LocaldbError):
    """Something named does not exist."""

    exit_status = 3
    http_status = 404


class StoreNotFound(NotFound):
    """No store has this id or name."""

    code = "store_not_found"
    prefix = "store not found: "
    sent_bare = True


class SourceNotFound(NotFound):
    """No source in scope has this id, path or URL."""

    code = "source_not_found"
    prefix = "source not found: "
    sent_bare = True


class ResourceNotFound(NotFound):
    """No store in scope holds this resource."""

    code = "resource_not_found"
    prefix = "resource not found: "
    sent_bare = True


class JobNotFound(NotFound):
    """No job has this id."""

    code = "job_not_found"
    prefix = "job not found: "
    sent_bare = True


class ChunkNotFound(NotFound):
    """The resource has no such chunk."""

    code = "chunk_not_found"
    prefix = "chunk not found: "


class Conflict(LocaldbError):
    """Somebody else is at it."""

    exit_status = 4
    http_status = 409


class RuntimeStateLocked(Conflict):
    """SQLite's lock was not obtained within the busy timeout."""

    code = "runtime_state_locked"
    prefix = "database is locked: "


class DaemonRunning(Conflict):
    """A daemon already serves this data folder."""

    code = "daemon_running"
    usual = "daemon is already running"


class IndexInProgress(Conflict):
    """Another run holds the store's writer lock."""

    code = "index_in_progress"
    prefix = "index already in progress: "


class JobCancelled(Conflict):
    """The job was cancelled; what it committed stays."""

    code = "job_cancelled"
    usual = "job was cancelled"


class JobAlreadyTerminal(Conflict):
    """A finished job cannot be cancelled."""

    code = "job_already_terminal"
    usual = "cannot cancel a finished job"


class BadInput(LocaldbError):
    """The caller, the config or a document is wrong."""

    exit_status = 2
    http_status = 400


class InvalidRequest(BadInput):
    """Arguments that cannot be honoured."""

    code = "invalid_request"
    prefix = "invalid request: "
    sent_bare = True


class InvalidConfig(BadInput):
    """The configuration cannot be used; the message names the key."""

    code = "invalid_config"
    http_status = 422
    prefix = "invalid config: "
    sent_bare = True


class SchemaMismatch(InvalidConfig):
    """The database was made by another version of the program, or another program."""


class StaleIndex(InvalidConfig):
    """The stored vectors come from another embedder; names both and the way out."""


class UnusableEmbedder(InvalidConfig):
    """The embedder refuses what the config says of it, such as the name of its model."""


class UnsupportedFormat(BadInput):
    """Nothing can read this document, or it has no text."""

    code = "unsupported_format"
    http_status = 422
    prefix = "unsupported format: "


class ExtractionFailed(BadInput):
    """The document's format is known but it could not be read."""

    code = "extraction_failed"
    http_status = 422
    prefix = "extraction failed: "


class Unavailable(LocaldbError):
    """Something outside is missing or does not answer."""

    exit_status = 5
    http_status = 502


class DaemonUnreachable(Unavailable):
    """The daemon does not answer."""

    code = "daemon_unreachable"
    usual = "daemon is unreachable"


class ProviderUnavailable(Unavailable):
    """A remote service failed after retries."""

    code = "provider_unavailable"
    prefix = "provider unavailable: "
    sent_bare = True


class ModelMissing(Unavailable):
    """Model files are absent or damaged; the message says how to get them."""

    code = "model_missing"
    http_status = 503
    prefix = "model missing: "
    sent_bare = True


class RateLimited(Unavailable):
    """The remote service asked us to stop, longer than we may wait."""

    code = "rate_limited"
    prefix = "rate limited: "
    sent_bare = True


class StorageUnavailable(Unavailable):
    """The disk is full or the data folder cannot be written."""

    code = "storage_unavailable"
    http_status = 507
    prefix = "storage unavailable: "


class Unauthorized(BadInput):
    """No token, or a wrong one."""

    code = "unauthorized"
    http_status = 401
    prefix = "not authorised: "


class Forbidden(BadInput):
    """The token does not reach this far."""

    code = "forbidden"
    http_status = 403
    prefix = "not authorised: "


_ID: Final = re.compile(r"\(id ([0-9a-f]{8})\)")


class InternalError(LocaldbError):
    """A fault of ours; the correlation id in its message is also in the log.

    A message that carries an id already, because it came from elsewhere, keeps it.
    """

    def __init__(self, message: str = "") -> None:
        carried = _ID.search(message)
        super().__init__(message if carried else f"{message} (id {secrets.token_hex(4)})")

    @property
    def correlation_id(self) -> str:
        """Eight hexadecimal digits."""
        found = _ID.search(self.bare)
        return found[1] if found else ""


class PluginError(LocaldbError):
    """A plugin failed; says which one, where and why.

    Args:
        plugin: the entry point's name.
        stage: where in its life it failed (``import``, ``describe``, ``hook`` …).
        reason: one line; the traceback hangs on ``__cause__``.
        component: the full id (``plugin/name``), when one component is at fault.
        distribution: name and version of what was installed, when known.
    """

    code = "internal"

    def __init__(
        self, plugin: str, *, stage: str, reason: str, component: str = "", distribution: str = ""
    ) -> None:
        self.plugin = plugin
        self.stage = stage
        self.reason = reason
        self.component = component
        self.distribution = distribution
        owner = component or plugin
        origin = f" ({distribution})" if distribution else ""
        super().__init__(f"plugin {owner}{origin}: {stage}: {reason}")


_LEAVES: tuple[type[LocaldbError], ...] = (
    StoreNotFound,
    SourceNotFound,
    ResourceNotFound,
    JobNotFound,
    ChunkNotFound,
    RuntimeStateLocked,
    DaemonRunning,
    IndexInProgress,
    JobCancelled,
    JobAlreadyTerminal,
    InvalidRequest,
    InvalidConfig,
    UnsupportedFormat,
    ExtractionFailed,
    DaemonUnreachable,
    ProviderUnavailable,
    ModelMissing,
    RateLimited,
    StorageUnavailable,
    Unauthorized,
    Forbidden,
)

ERRORS_BY_CODE: dict[str, type[LocaldbError]] = {leaf.code: leaf for leaf in _LEAVES}
"""Every stable code and the class that carries it (``internal`` is left out)."""


def error_from_code(code: str, message: str, *, http_status: int | None = None) -> LocaldbError:
    """Rebuild the typed error from its wire form, ``{code, message}`` (L-ERR-01).

    An unknown code becomes internal; it is kept in the text, with the HTTP status if
    there was one.
    """
    if code == "document_not_found":  # the old name of the code, still sent by older programs
        code = ResourceNotFound.code
    kind = ERRORS_BY_CODE.get(code)
    if kind is not None:
        return _received(kind, message)
    if code == InternalError.code and _ID.search(message):
        return InternalError(message)
    origin = "" if http_status is None else f" (HTTP {http_status})"
    return InternalError(f"{code}: {message}{origin}")


def _received(kind: type[LocaldbError], message: str) -> LocaldbError:
    """An error of this kind; the prefix that the sender left in is taken off."""
    context, prefix, bare = message.partition(kind.prefix) if kind.prefix else ("", "", "")
    if kind.sent_bare or not prefix:
        return kind(message)
    return kind(bare).within(context.removesuffix(": "))
