"""What agents may read by URI: fixed when the server starts, built when it is first read."""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate

from localdb_core.domain import InternalError, LocaldbError
from localdb_core.host import lazy
from localdb_core.host.owned import Owned
from localdb_core.host.surfaces import resources_by_uri
from localdb_core.mcp.calls import current_call
from localdb_core.mcp.policy import printable
from localdb_core.mcp.surfaces import Choice
from localdb_core.mcp.table import ContextFor
from localdb_core.plugin import ResourceReader, ResourceSpec, ToolFailure

log = logging.getLogger(__name__)


class BoundResource:
    """One URI, or a template of many."""

    def __init__(
        self, owned: Owned[ResourceSpec], context_for: ContextFor, *, cap: int | None
    ) -> None:
        self.spec = owned.value
        self.template = UriTemplate.parse(self.spec.uri_template)
        self._owned = owned
        self._context_for = context_for
        self._cap = cap
        self._reader: ResourceReader | None = None
        self._building = threading.Lock()

    @property
    def is_template(self) -> bool:
        """Whether the URI has places to fill in."""
        return bool(self.template.variables)

    def read(self, uri: str, variables: Mapping[str, Any]) -> types.ReadResourceResult:
        """The content; may block. Any: strings and lists of strings.

        Raises:
            MCPError: there is nothing to read, or too much.
            Exception: whatever the reader raises, and whatever its answer cannot be.
        """
        try:
            content: object = self._built().read(uri, variables)
        except ToolFailure as error:
            raise refused(uri, error.message) from None
        except LocaldbError as error:
            if error.code == InternalError.code:
                raise
            raise refused(uri, str(error)) from None
        except MCPError as error:  # of the reader's own making, with a text that nobody knows
            raise InternalError("a reader raised an error of the protocol") from error
        if isinstance(content, str | bytes) and self._cap is not None and len(content) > self._cap:
            raise refused(uri, f"it has {len(content)} bytes, more than {self._cap} may be sent")
        return types.ReadResourceResult(contents=[self._wire(uri, content)])

    def _wire(
        self, uri: str, content: object
    ) -> types.TextResourceContents | types.BlobResourceContents:
        kind = self.spec.media_type
        if isinstance(content, str):
            return types.TextResourceContents(uri=uri, mime_type=kind, text=printable(content))
        if isinstance(content, bytes):
            blob = base64.b64encode(content).decode()
            return types.BlobResourceContents(uri=uri, mime_type=kind, blob=blob)
        raise TypeError(f"resource {self.spec.name} gave {type(content).__name__}, no str or bytes")

    def _built(self) -> ResourceReader:
        with self._building:
            if self._reader is None:
                context = replace(self._context_for(self._owned.plugin), call=current_call)
                reader: ResourceReader = lazy.build(self._owned, context)
                self._reader = reader
            return self._reader


class ResourceTable:
    """Resources by URI."""

    def __init__(self, resources: Sequence[BoundResource] = ()) -> None:
        self._resources = tuple(resources)

    @classmethod
    def build(
        cls, owned: Iterable[Owned[ResourceSpec]], choice: Choice, *, context_for: ContextFor
    ) -> Self:
        """The resources of these surfaces; what cannot be offered is logged and left out."""
        chosen = [resource for resource in owned if resource.value.surface in choice.names]
        bound: list[BoundResource] = []
        for uri, (winner, *losers) in resources_by_uri(chosen).items():
            for loser in losers:
                log.error(
                    "resource %s of plugin %s is left out: plugin %s already offers it",
                    *(uri, loser.plugin, winner.plugin),
                )
            try:
                cap = choice.policy(winner.value.surface).result_cap
                bound.append(BoundResource(winner, context_for, cap=cap))
            # A plugin's own words are parsed here; the others must still be served.
            except Exception:
                log.exception("resource %s of plugin %s is left out", uri, winner.plugin)
        return cls(bound)

    def __bool__(self) -> bool:
        return bool(self._resources)

    def find(self, uri: str) -> tuple[BoundResource, Mapping[str, Any]]:
        """Who answers for a URI, and what stands in the places of its template.

        Raises:
            MCPError: nobody does.
        """
        for resource in sorted(self._resources, key=lambda resource: resource.is_template):
            variables = resource.template.match(uri)
            if variables is not None:
                return resource, variables
        raise refused(uri, "resource not found")

    def listed(self) -> list[types.Resource]:
        """Those that are one thing."""
        return [
            types.Resource(
                name=r.spec.name,
                title=r.spec.title or None,
                uri=r.spec.uri_template,
                description=r.spec.description or None,
                mime_type=r.spec.media_type,
            )
            for r in self._resources
            if not r.is_template
        ]

    def templates(self) -> list[types.ResourceTemplate]:
        """Those that are many."""
        return [
            types.ResourceTemplate(
                name=r.spec.name,
                title=r.spec.title or None,
                uri_template=r.spec.uri_template,
                description=r.spec.description or None,
                mime_type=r.spec.media_type,
            )
            for r in self._resources
            if r.is_template
        ]


def refused(uri: str, message: str) -> MCPError:
    """The answer to a URI that cannot be read."""
    return MCPError(code=types.INVALID_PARAMS, message=printable(message), data={"uri": uri})
