"""What ``localdb doctor`` finds; plugins add findings of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self


class CheckStatus(StrEnum):
    """How much it matters."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Check.ok("server", "answers at http://127.0.0.1:8080")
    Check.fail("server", "does not answer", "start it, or set plugins.config.notes.server")

    Attributes:
        name: what was looked at, in a word or two.
        message: what was found.
        remedy: what to type or to do; empty when nothing is wrong.
    """

    name: str
    status: CheckStatus
    message: str
    remedy: str = ""

    @classmethod
    def ok(cls, name: str, message: str) -> Self:
        """Nothing is wrong."""
        return cls(name, CheckStatus.OK, message)

    @classmethod
    def warn(cls, name: str, message: str, remedy: str = "") -> Self:
        """It works, but not as somebody may expect."""
        return cls(name, CheckStatus.WARN, message, remedy)

    @classmethod
    def fail(cls, name: str, message: str, remedy: str = "") -> Self:
        """Something does not work."""
        return cls(name, CheckStatus.FAIL, message, remedy)

    def to_json(self) -> dict[str, Any]:  # Any: JSON values
        """The object of ``doctor --json``; no remedy is null."""
        return {
            "name": self.name,
            "status": str(self.status),
            "message": self.message,
            "remedy": self.remedy or None,
        }


def failed(checks: Iterable[Check]) -> bool:
    """Whether any of these says that something does not work."""
    return any(check.status is CheckStatus.FAIL for check in checks)
