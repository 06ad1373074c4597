"""A component's description together with the plugin it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from localdb_core.plugin import Spec

T = TypeVar("T", bound=Spec, covariant=True)


@dataclass(frozen=True, slots=True)
class Owned(Generic[T]):
    """A description, and who gave it.

    Errors, conflicts and listings start from here: a bare spec has no owner
    and does not leave ``host``.
    """

    plugin: str
    distribution: str
    version: str
    value: T

    @property
    def full_id(self) -> str:
        """``plugin/name``: unique within a kind."""
        return f"{self.plugin}/{self.value.name}"
