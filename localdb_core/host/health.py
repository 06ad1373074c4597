"""Asks plugins for checks of their own; whatever one does, it costs its checks only."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

import pluggy

from localdb_core.domain.errors import PluginError
from localdb_core.domain.health import Check, CheckStatus
from localdb_core.host.discovery import Candidate
from localdb_core.host.guard import Refused, guard
from localdb_core.plugin import CheckContext

LIMIT: Final = 10.0
"""Seconds for the checks of one plugin."""

MOST: Final = 100
"""Checks that one plugin may add."""


@dataclass(frozen=True, slots=True)
class Checker:
    """A plugin's implementation of ``localdb_checks``."""

    plugin: str
    origin: str
    function: Callable[..., object]
    arguments: tuple[str, ...]

    def run(self, context: CheckContext, *, limit: float = LIMIT) -> list[Check]:
        """Its checks, each named after the plugin; a fault of the plugin is one of them."""
        found: list[Check] = []
        faults: list[PluginError] = []

        def ask() -> None:
            try:
                with guard(self.plugin, "check", distribution=self.origin):
                    given = {"context": context}
                    answer = self.function(**{name: given[name] for name in self.arguments})
                    found.extend(_sifted(answer))
            except PluginError as error:
                faults.append(error)

        # A daemon thread: one that never ends must not keep the program from ending.
        thread = threading.Thread(target=ask, name=f"checks of {self.plugin}", daemon=True)
        thread.start()
        thread.join(limit)
        if thread.is_alive():
            return [self._fault(f"its checks did not end within {limit:g} s")]
        if faults:
            return [self._fault(f"its checks failed: {faults[0].reason}")]
        return [replace(check, name=f"{self.plugin}: {check.name}") for check in found]

    def _fault(self, message: str) -> Check:
        return Check.fail(f"plugin {self.plugin}", message, f"localdb plugin info {self.plugin}")


def checkers(manager: pluggy.PluginManager, owners: Mapping[str, Candidate]) -> tuple[Checker, ...]:
    """Every implementation among the registered plugins, by the plugins' names."""
    made = (
        Checker(
            implementation.plugin_name,
            owners[implementation.plugin_name].origin,
            implementation.function,
            tuple(implementation.argnames),
        )
        for implementation in manager.hook.localdb_checks.get_hookimpls()
    )
    return tuple(sorted(made, key=lambda checker: checker.plugin))


def _sifted(answer: Any) -> Iterator[Check]:  # Any: whatever a plugin returns
    if inspect.iscoroutine(answer):
        answer.close()
        raise Refused("returned a coroutine; hooks are plain functions")
    if isinstance(answer, str | bytes | Mapping | Check) or not isinstance(answer, Iterable):
        raise Refused(f"returned a {type(answer).__name__}; return a list of Check")
    for check in islice(answer, MOST):
        if not isinstance(check, Check):
            raise Refused(f"{type(check).__name__} is no Check")
        texts = (check.name, check.message, check.remedy)
        if not all(isinstance(text, str) for text in texts) or check.status not in tuple(
            CheckStatus
        ):
            raise Refused("a Check is a name, a CheckStatus, a message and a remedy")
        yield replace(check, status=CheckStatus(check.status))
