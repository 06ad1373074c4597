"""The database files as files: looked at, migrated, stepped back and packed (L-STO-26)."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from localdb_core.config.load import load_config
from localdb_core.config.model import Config
from localdb_core.config.paths import Paths, find_config, is_written
from localdb_core.domain.databases import FileState, Inspection, MigrationReport, VacuumReport
from localdb_core.domain.errors import InternalError, InvalidRequest, PluginError
from localdb_core.host.host import Host
from localdb_core.storage.migrations import runner
from localdb_core.storage.migrations.chain import Schema
from localdb_core.storage.migrations.inspection import inspect, judge
from localdb_core.storage.plugindb import plugin_files, plugin_schema
from localdb_core.storage.schema import CATALOG

PATIENCE_MS = 2000
"""How long a migration waits for whoever has the file open; most commands are quicker."""


@dataclass(frozen=True, slots=True)
class Database:
    """One file, what it ought to be and what was found in it."""

    path: Path
    schema: Schema
    found: Inspection

    @property
    def losses(self) -> tuple[str, ...]:
        """What a migration to head would destroy."""
        if self.found.state is not FileState.BEHIND or self.found.current is None:
            return ()
        steps = self.schema.chain.after(self.found.current)
        return tuple(step.destroys for step in steps if step.destroys)

    def refuse_unusable(self, *usable: FileState) -> None:
        """Raise the file's refusal unless it is in one of these states."""
        if self.found.refusal is not None and self.found.state not in usable:
            raise self.found.refusal


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """A plugin's file that nobody here knows how to work on."""

    plugin: str
    path: Path
    problem: PluginError


@dataclass
class Databases:
    """What ``localdb db`` does.

    found = Databases.find(None, load_host)
    report = found.migrate(found.catalog(), on_step=show, cancel=event)

    Unlike :class:`localdb_core.app.LocalDB` it makes nothing: no config, no folder and
    no database.
    """

    paths: Paths
    load_host: Callable[[], Host]

    @classmethod
    def find(cls, config_path: Path | None, load_host: Callable[[], Host]) -> Self:
        """The databases of a config, or of the defaults before the first run.

        Raises InvalidConfig.
        """
        path = find_config(config_path, os.environ)
        config = load_config(path) if is_written(path) else Config()
        return cls(Paths.of(path, config), load_host)

    def catalog(self) -> Database:
        """The catalog, which may not be there yet. Never fails because of what it finds."""
        path = self.paths.database
        return Database(path, CATALOG, inspect(path, CATALOG))

    def plugins(self) -> tuple[list[Database], list[Unclaimed]]:
        """The databases of plugins that there are, and those that no loaded plugin claims.

        Plugins are loaded only when there is a file of one.
        """
        found: list[Database] = []
        unclaimed: list[Unclaimed] = []
        for plugin, path in plugin_files(self.paths.data):
            try:
                schema = self._schema(plugin)
            except PluginError as error:
                unclaimed.append(Unclaimed(plugin, path, error))
            else:
                found.append(Database(path, schema, inspect(path, schema)))
        return found, unclaimed

    def plugin(self, name: str) -> Database:
        """The database of one plugin. Raises PluginError, InvalidRequest."""
        found, unclaimed = self.plugins()
        for database in found:
            if database.schema.plugin == name:
                return database
        for orphan in unclaimed:
            if orphan.plugin == name:
                raise orphan.problem
        raise InvalidRequest(f"there is no database of plugin {name}; see: localdb db status")

    def _schema(self, plugin: str) -> Schema:
        host = self.load_host()
        info = host.infos.get(plugin)
        if info is not None and info.migrations is not None:
            return plugin_schema(plugin, info.migrations)
        faults = [status.error for status in host.statuses if status.name == plugin]
        reason = faults[0] if faults and faults[0] else "it is not loaded, or has no migrations now"
        raise PluginError(plugin, stage="migrations", reason=reason)

    def migrate(
        self, database: Database, *, on_step: runner.OnStep, cancel: threading.Event
    ) -> MigrationReport:
        """Bring one file to head; nobody else may have it open.

        Each step is one transaction. When something would be lost a copy is kept first.

        Raises:
            SchemaMismatch: the file cannot be migrated, only moved away or upgraded to.
            RuntimeStateLocked: somebody else has it open.
            InternalError: a step failed, or the file's records were changed.
            StorageUnavailable: no room.
            KeyboardInterrupt: ``cancel`` was set; whole steps stay.
        """
        database.refuse_unusable(FileState.BEHIND)
        current = database.found.current or 0
        if database.found.state is not FileState.BEHIND:
            return MigrationReport(current, current, 0, database.schema.plugin)
        path, schema = database.path, database.schema
        with runner.alone_with(path, timeout_ms=PATIENCE_MS) as db:
            found = judge(db, path, schema)  # another process may have been faster
            Database(path, schema, found).refuse_unusable(FileState.BEHIND)
            current = found.current or 0
            steps = schema.chain.after(current)
            lossy = any(step.destroys for step in steps)
            copy = runner.keep_copy(db, path, current, cancel=cancel) if lossy else None
            with _named(path):
                count = runner.step_up(db, schema, on_step=on_step, cancel=cancel)
            return MigrationReport(
                current,
                current + count,
                count,
                schema.plugin,
                staleness_marked=any(step.kind == "reindex" for step in steps),
                reclaimable=runner.reclaimable(db),
                copy=copy,
            )

    def downgrade_target(self, database: Database, target: int | None) -> int:
        """Where a downgrade would go; one step down unless ``target`` says otherwise.

        Raises:
            InvalidRequest: there is no way to that version.
            SchemaMismatch: the file is foreign, damaged or older than the baseline.
        """
        database.refuse_unusable(FileState.BEHIND, FileState.NEWER)
        return runner.check_target(database.found, target)

    def downgrade(
        self, database: Database, target: int, *, on_step: runner.OnStep, cancel: threading.Event
    ) -> MigrationReport:
        """Step one file back by the statements that are stored in it; a copy is kept first.

        Raises as :meth:`downgrade_target` and :meth:`migrate`.
        """
        path, schema = database.path, database.schema
        with runner.alone_with(path, timeout_ms=PATIENCE_MS) as db:
            now = Database(path, schema, judge(db, path, schema))
            self.downgrade_target(now, target)
            current = now.found.current or 0
            copy = runner.keep_copy(db, path, current, cancel=cancel)
            with _named(path):
                count = runner.step_down(db, target, on_step=on_step, cancel=cancel)
            return MigrationReport(current, target, count, schema.plugin, copy=copy)

    def vacuum(self, database: Database, *, cancel: threading.Event) -> VacuumReport:
        """Pack a file that is at head; others may read it meanwhile.

        Raises SchemaMismatch, StorageUnavailable, RuntimeStateLocked when others write,
        KeyboardInterrupt when ``cancel`` was set.
        """
        database.refuse_unusable()
        path = database.path
        before, started = _size(path), time.monotonic()
        if database.found.state is not FileState.ABSENT:
            runner.vacuum(path, cancel)
        return VacuumReport(before, _size(path), int((time.monotonic() - started) * 1000))


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say of a step that failed whose it was."""
    try:
        yield
    except InternalError as error:
        raise error.within(str(path)) from error.__cause__


def _size(path: Path) -> int:
    """The database and its log; 0 when there is none."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
