"""Progress of long work on stderr: a bar on a terminal, plain lines elsewhere (spec §3.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from localdb_core.cli import render
from localdb_core.cli.state import State
from localdb_core.domain.events import (
    Discovered,
    DocumentFinished,
    DocumentStarted,
    Event,
    IndexStats,
    SourceFinished,
    SourceStarted,
)
from localdb_core.domain.store import Store
from localdb_core.domain.uri import printable

if TYPE_CHECKING:
    from rich.progress import Progress

OnEvent = Callable[[Store, Event], None]


class View(Protocol):
    """Shows the events of a run."""

    def __call__(self, store: Store, event: Event) -> None:
        """Take note of one event."""
        ...


@contextmanager
def indexing(state: State, *, prefixed: bool) -> Iterator[OnEvent]:
    """A view of an index run: nothing for JSON, a bar on a terminal, else lines."""
    if state.json:
        yield _silent
    elif render.is_terminal(state.err):
        with _bar(state) as progress:
            yield BarView(progress, prefixed=prefixed)
    else:
        yield LineView(state, prefixed=prefixed)


@contextmanager
def counting(state: State, label: str) -> Iterator[Callable[[int, int], None]]:
    """A view of work that counts ``(done, total)``; shown on a terminal only."""
    if state.json or not render.is_terminal(state.err):
        yield lambda done, total: None
        return
    with _bar(state) as progress:
        task = progress.add_task(label, total=None, note="")
        yield lambda done, total: progress.update(task, completed=done, total=total)


class LineView:
    """Plain lines: each source, and now and then a document."""

    def __init__(self, state: State, *, prefixed: bool) -> None:
        self._state = state
        self._prefixed = prefixed
        self._total = 0
        self._done = 0

    def __call__(self, store: Store, event: Event) -> None:
        """Print the line of this event, if it has one."""
        said = self._line(event)
        if said is not None:
            prefix = f"[{store.name}] " if self._prefixed else ""
            render.note(self._state, printable(prefix + said))

    def _line(self, event: Event) -> str | None:
        match event:
            case SourceStarted():
                self._total = self._done = 0
                return f"Indexing {event.location}"
            case Discovered():
                self._total = event.total
                return f"  discovered {event.total} files"
            case DocumentFinished():
                self._done += 1
                step = max(10, self._total // 10)
                return None if self._done % step else f"  {self._done}/{self._total} documents"
            case SourceFinished():
                return f"  {summary(event.stats)}"
        return None


class BarView:
    """One bar per source, with the chunks made so far."""

    def __init__(self, progress: Progress, *, prefixed: bool) -> None:
        self._progress = progress
        self._prefixed = prefixed
        self._chunks = 0
        self._task = None if progress.tasks else progress.add_task("…", total=None, note="")

    def __call__(self, store: Store, event: Event) -> None:
        """Move the bar."""
        prefix = f"[{store.name}] " if self._prefixed else ""
        match event:
            case SourceStarted():
                self._begin(printable(prefix + event.location))
            case Discovered():
                self._update(total=event.total)
            case DocumentStarted():
                self._update(note=printable(event.uri.rsplit("/", 1)[-1])[-30:])
            case DocumentFinished():
                self._chunks += event.chunks
                self._update(advance=1)
            case SourceFinished():
                self._progress.console.print(
                    printable(f"{prefix}  {summary(event.stats)}"), markup=False, highlight=False
                )

    def _begin(self, label: str) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._chunks = 0
        # Brackets in a path are not markup.
        self._task = self._progress.add_task(label.replace("[", "\\["), total=None, note="")

    def _update(
        self, *, total: int | None = None, advance: int = 0, note: str | None = None
    ) -> None:
        if self._task is None:
            return
        said = f"{self._chunks} chunks" if note is None else f"{self._chunks} chunks  {note}"
        self._progress.update(
            self._task, total=total, advance=advance, note=said.replace("[", "\\[")
        )


def summary(stats: IndexStats) -> str:
    """The line at the end of a source."""
    return (
        f"indexed {stats.docs_indexed} docs, {stats.docs_skipped} skipped, "
        f"{stats.docs_deleted} deleted, {stats.chunks_written} chunks"
    )


def _silent(store: Store, event: Event) -> None:
    """Show nothing."""


def _bar(state: State) -> Progress:
    from rich.console import Console  # 60 ms, on a terminal only
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    from localdb_core.cli.rate import RateColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(file=state.err),
        transient=True,
    )
