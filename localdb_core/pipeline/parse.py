"""Running the parser chain on one file, in a thread or in a worker process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from localdb_core.domain.errors import ExtractionFailed, LocaldbError, UnsupportedFormat
from localdb_core.host.owned import Owned
from localdb_core.host.resolve import Chain, claims
from localdb_core.pipeline.pool import ParserPool
from localdb_core.pipeline.sniff import sniff
from localdb_core.pipeline.watch import Watch
from localdb_core.plugin import (
    HEAD_SIZE,
    Declined,
    Document,
    Item,
    Parser,
    ParseResult,
    ParserSpec,
    PluginContext,
    Probe,
)

Build = Callable[[Owned[ParserSpec], PluginContext], Parser]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document, the parser that made it, and those that were asked before."""

    document: Document
    parser: Owned[ParserSpec]
    declined: tuple[Owned[ParserSpec], ...] = ()


def probe_of(item: Item) -> Probe:
    """A first look: name, head and what both suggest. Raises OSError."""
    with item.path.open("rb") as file:
        head = file.read(HEAD_SIZE)
    return Probe(
        name=item.name,
        head=head,
        media_type=sniff(head, item.name),
        size=item.size,
        uri=item.uri,
    )


class ParserRunner:
    """Tries the chain; builds in-process parsers once per thread-safe need.

    ``context`` gives a plugin's context, ``build`` makes a component of it.
    """

    def __init__(
        self,
        chain: Chain,
        pool: ParserPool,
        *,
        context: Callable[[str], PluginContext],
        build: Build,
    ) -> None:
        self._chain = chain
        self._pool = pool
        self._context = context
        self._build = build
        self._built: dict[str, Parser] = {}
        self._building = threading.Lock()
        self.watch = Watch(pool.stop)
        """The parsers that run in this process."""

    def parse(self, path: Path, probe: Probe) -> Parsed:
        """The first document the chain gives; an error ends the chain (L-PAR-01).

        Raises UnsupportedFormat when nobody takes the file, ExtractionFailed when a
        parser failed or crashed on it, StorageUnavailable and JobCancelled as they are.
        """
        declined: list[Owned[ParserSpec]] = []
        reasons: list[str] = []
        for owned in claims(self._chain, probe):
            result = self._try(owned, path, probe)
            if isinstance(result, Document):
                return Parsed(result, owned, tuple(declined))
            declined.append(owned)
            reasons.append(f"{owned.full_id}: {result.reason}")
        raise UnsupportedFormat("; ".join(reasons) or "no parser takes this kind of file")

    def _try(self, owned: Owned[ParserSpec], path: Path, probe: Probe) -> ParseResult:
        try:
            context = self._context(owned.plugin)
            if owned.value.runs == "process":
                return self._pool.parse(owned, context, path, probe)
            component = self._component(owned, context)
            with self.watch.parsing(owned, probe.uri or path.as_uri()) as progress:
                # object: a protocol promises nothing at run time
                result: object = component.parse(path, probe, progress)
        except LocaldbError as error:
            raise error.within(owned.full_id) from error
        except (OSError, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the parser guard (L-PAR-02)
            reason = f"the parser crashed: {type(error).__name__}: {error}"
            raise ExtractionFailed(reason[:500]).within(owned.full_id) from error
        if not isinstance(result, Document | Declined):
            kind = type(result).__name__
            raise ExtractionFailed(f"the parser returned {kind}").within(owned.full_id)
        return result

    def _component(self, owned: Owned[ParserSpec], context: PluginContext) -> Parser:
        with self._building:
            if owned.full_id not in self._built:
                self._built[owned.full_id] = self._build(owned, context)
            return self._built[owned.full_id]
