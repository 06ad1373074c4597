"""Running checks so that a fault in one is one more check."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import ParamSpec

from localdb_core.domain.errors import LocaldbError
from localdb_core.domain.health import Check

log = logging.getLogger(__name__)


P = ParamSpec("P")


def collected(
    name: str, checks: Callable[P, Iterable[Check]], *args: P.args, **kwargs: P.kwargs
) -> list[Check]:
    """The checks of one part; if it breaks off, what it had and why."""
    found: list[Check] = []
    try:
        for check in checks(*args, **kwargs):
            found.append(check)  # noqa: PERF402 - what came before a fault is kept
    except LocaldbError as error:
        found.append(of_error(name, error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - see the package
        log.debug("the check of %s broke off", name, exc_info=error)
        found.append(
            Check.fail(
                name,
                f"cannot be looked at: {type(error).__name__}: {error}",
                "localdb doctor --verbose",
            )
        )
    return found


def of_error(name: str, error: LocaldbError) -> Check:
    """An error as a check; our errors end in what to do."""
    message, _, remedy = str(error).rpartition("; ")
    return Check.fail(name, message or remedy, remedy if message else "")
