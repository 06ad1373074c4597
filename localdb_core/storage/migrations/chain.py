"""The steps of one kind of database, and the schema they end in."""

from __future__ import annotations

import pkgutil
import re
from dataclasses import dataclass
from importlib import import_module
from itertools import chain as chained
from typing import Final, Self

from localdb_core.plugin import Migration
from localdb_core.storage.migrations.records import RECORD_TABLE

_MODULE: Final = re.compile(r"m(\d{4})_\w+")


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps without a gap, oldest first. The first is the baseline, the last the head."""

    steps: tuple[Migration, ...]

    def __post_init__(self) -> None:
        versions = [step.version for step in self.steps]
        if not versions or versions[0] < 1:
            raise ValueError("a chain of migrations begins with version 1 or a later one")
        if versions != list(range(versions[0], versions[0] + len(versions))):
            raise ValueError(f"the versions of a chain of migrations have gaps: {versions}")

    @classmethod
    def load(cls, package: str) -> Self:
        """The steps in the modules ``mNNNN_name`` of a package.

        Raises:
            ImportError: there is no such package, or a module of it cannot be imported.
            ValueError: a module has no ``STEP``, or one of another version than its name
                says, or there are gaps.
        """
        found: list[Migration] = []
        for module in pkgutil.iter_modules(import_module(package).__path__):
            match = _MODULE.fullmatch(module.name)
            if match is None:
                continue
            step = getattr(import_module(f"{package}.{module.name}"), "STEP", None)
            if not isinstance(step, Migration) or step.version != int(match[1]):
                raise ValueError(
                    f"{package}.{module.name} needs STEP = Migration({int(match[1])}, ...)"
                )
            found.append(step)
        return cls(tuple(sorted(found, key=lambda step: step.version)))

    @property
    def baseline(self) -> int:
        """The oldest version that can be migrated."""
        return self.steps[0].version

    @property
    def head(self) -> int:
        """The version that this program works with."""
        return self.steps[-1].version

    def after(self, version: int) -> tuple[Migration, ...]:
        """The steps that a file of this version has before it."""
        return tuple(step for step in self.steps if step.version > version)


@dataclass(frozen=True, slots=True)
class Schema:
    """What a kind of database file is marked with, made of and migrated by.

    Args:
        application_id: SQLite's mark in the head of the file; another one with tables
            present is somebody else's file.
        chain: how older files get to the head.
        statements: the head itself; a new file is made of these.
        plugin: whose tables they are; empty for the catalog.
    """

    application_id: int
    chain: Chain
    statements: tuple[str, ...]
    plugin: str = ""

    @classmethod
    def replaying(cls, application_id: int, chain: Chain, *, plugin: str) -> Self:
        """A schema whose head is not written down: new files go through every step."""
        ups = chained.from_iterable(step.up for step in chain.steps)
        return cls(application_id, chain, (RECORD_TABLE, *ups), plugin)
