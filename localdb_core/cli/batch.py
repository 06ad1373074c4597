"""The result of a command that does one thing to several items (L-CLI-45)."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import click

from localdb_core.cli import render
from localdb_core.cli.failure import as_domain
from localdb_core.cli.state import State
from localdb_core.domain.errors import LocaldbError

Json = dict[str, Any]  # Any: JSON values


class Batch:
    """Collects what was done; says it at once as text, at the end as JSON.

    batch = Batch(state, expected=2)
    with batch:
        batch.done({"id": "01J…"}, "Removed source: 01J…")
    batch.finish()
    """

    def __init__(self, state: State, *, expected: int) -> None:
        self._state = state
        self._several = expected > 1
        self._results: list[Json] = []
        self._error: LocaldbError | None = None

    def done(self, result: Json, said: str) -> None:
        """One item is done."""
        self._results.append(result)
        if not self._state.json:
            render.line(self._state, said)
            self._state.out.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Keep an error for :meth:`finish`; the items after it are not tried."""
        if not isinstance(error, Exception) or isinstance(error, click.ClickException):
            return False
        self._error = as_domain(error)
        self._error.__cause__ = error.__cause__ if self._error is error else error
        return True

    def finish(self) -> None:
        """Print the JSON document. Raises the failure, if there was one."""
        state, error = self._state, self._error
        if state.json and error is None:
            if self._several:
                render.data(state, {"status": "ok", "results": self._results})
            else:
                render.data(state, {"status": "ok", **self._results[0]})
        elif state.json and self._several and error is not None:
            failure = {"code": error.code, "message": str(error)}
            render.data(state, {"status": "error", "error": failure, "results": self._results})
        if error is not None:
            raise error
