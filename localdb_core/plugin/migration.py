"""A step in the life of a database's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StepKind = Literal["ddl", "rebuild", "reindex"]
"""How much a step costs: ``ddl`` is quick, ``rebuild`` rewrites stored rows and takes as
long as there are many, ``reindex`` only marks rows as stale, for a later run to renew."""


@dataclass(frozen=True, slots=True)
class Migration:
    """From ``version - 1`` to ``version``, and back; the constant ``STEP`` of a module.

    Args:
        version: 1 for the first step of a chain, then one more each.
        name: one or two words for people, such as ``"chunking"``.
        up: SQL statements, one in each string. They run in one transaction with foreign
            keys off, and must not begin, commit or attach anything themselves.
        down: what undoes them. It is stored in the database, so that a program that has
            never heard of this step can go back.
        irreversible: why there is no way back; given exactly when ``down`` is not.
        kind: see :data:`StepKind`.
        destroys: what a person loses by going up, such as ``"drafts"``. It is asked about,
            and a copy of the file is kept. Empty when nothing is lost.

    Never change a step that was released: databases hold a checksum of it.

    Raises:
        ValueError: both or neither of ``down`` and ``irreversible`` were given, or no ``up``.
    """

    version: int
    name: str
    up: tuple[str, ...]
    down: tuple[str, ...] = ()
    irreversible: str = ""
    kind: StepKind = "ddl"
    destroys: str = ""

    def __post_init__(self) -> None:
        if not self.up:
            raise ValueError(f"migration {self.version} ({self.name}) does nothing")
        if bool(self.down) == bool(self.irreversible):
            raise ValueError(
                f"migration {self.version} ({self.name}) needs either the way down "
                "or the reason why there is none"
            )
