"""The result of a command that does one thing to several items (L-CLI-45)."""

from __future__ import annotations

from typing import Any

from localdb_core.cli import render
from localdb_core.cli.state import State
from localdb_core.domain.errors import LocaldbError

Json = dict[str, Any]  # Any: JSON values


class Batch:
    """Collects what was done; says it at once as text, at the end as JSON.

    batch = Batch(state, expected=2)
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

    def fail(self, error: LocaldbError) -> None:
        """An item failed; the ones after it are not tried."""
        self._error = error

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
