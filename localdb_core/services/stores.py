"""Stores and sources: adding, removing, listing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from localdb_core.domain.clock import utc_now
from localdb_core.domain.duration import parse_duration
from localdb_core.domain.errors import InvalidRequest, StoreNotFound
from localdb_core.domain.ids import SourceId, StoreId, new_ulid
from localdb_core.domain.store import TYPED, Source, Store, StoreStats
from localdb_core.pipeline.presets import check_preset
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.engines import Engines
from localdb_core.storage.lock import StoreLock
from localdb_core.storage.readers import IndexReaders
from localdb_core.storage.session import WriteSession


class Stores:
    """The stores of the catalog. ``scope`` limits what can be seen; None sees all."""

    def __init__(
        self, catalog: Catalog, readers: IndexReaders, scope: Sequence[Store] | None = None
    ) -> None:
        self._catalog = catalog
        self._readers = readers
        self._scope = None if scope is None else {store.id for store in scope}

    def list(self) -> list[Store]:
        """Every store in scope, ordered by name."""
        return [s for s in self._catalog.stores.list() if self._visible(s)]

    def resolve(self, name_or_id: str) -> Store:
        """The store with this id, else with this name. Raises StoreNotFound."""
        store = self._catalog.stores.resolve(name_or_id)
        if not self._visible(store):
            raise StoreNotFound(name_or_id)
        return store

    def stats(self, store: Store) -> StoreStats:
        """How many documents and chunks it holds."""
        return self._catalog.stores.stats(store.id)

    def add(self, name: str, visibility: str = "private") -> Store:
        """Create a store. Raises InvalidRequest for a bad or taken name."""
        return self._catalog.stores.add(name, visibility=visibility)

    def remove(self, store: Store) -> None:
        """Delete a store with everything in it, its indexes included.

        Raises IndexInProgress while somebody writes it.
        """
        lock = StoreLock(self._catalog.data_dir, store.id, name=store.name)
        lock.acquire()
        try:
            self._readers.drop(store.id)
            self._catalog.stores.remove(store.id)
            for folder in (self._catalog.data_dir / "index").glob(f"*/{store.id}"):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            lock.release()

    def _visible(self, store: Store) -> bool:
        return self._scope is None or store.id in self._scope


class Sources:
    """The sources of stores."""

    def __init__(self, catalog: Catalog, engines: Engines) -> None:
        self._catalog = catalog
        self._engines = engines

    def list(self, store: Store) -> list[Source]:
        """In the order they were added."""
        return self._catalog.sources.list(store.id)

    def add(
        self,
        store: Store,
        location: str,
        *,
        kind: str | None = None,
        preset: str = "prose",
        refresh: str | None = None,
        settings: Mapping[str, Any] | None = None,  # Any: JSON values
    ) -> Source:
        """Register a source; nothing is indexed yet.

        A file beside others that were added one by one joins their source, because a
        store has one source per folder (L-DOM-11). A kind that a plugin brings gets an
        address as ``url`` and anything else, made absolute, as ``root``.

        Raises InvalidRequest for a path that does not exist, an unknown preset, a
        ``refresh`` that is no duration, or a place the store already has.
        """
        check_preset(preset)
        parse_duration(refresh or "")
        kind = kind or "path"
        root, include, typed = _root_of(location) if kind == "path" else _place_of(location, kind)
        known = None if root is None else self._same_root(store, root)
        if known is not None:
            return self._joined(known, include)
        source = Source(
            id=SourceId(new_ulid()),
            store_id=StoreId(store.id),
            kind=kind,
            root=root,
            url=location if root is None else None,
            include=include,
            preset=preset,
            refresh=refresh,
            created_at=utc_now(),
            settings={**(settings or {}), **({TYPED: typed} if typed is not None else {})},
        )
        return self._catalog.sources.add(source)

    def _same_root(self, store: Store, root: str) -> Source | None:
        """A root under another spelling is the same root (L-DOM-11)."""
        for other in self.list(store):
            if other.root is not None and _real(other.root) == _real(root):
                return other
        return None

    def _joined(self, known: Source, include: tuple[str, ...]) -> Source:
        fresh = tuple(name for name in include if name not in known.include)
        if known.include and fresh:
            return self._catalog.sources.set_include(known.id, known.include + fresh)
        if known.include and not include:
            raise InvalidRequest(
                f"the store already has a source for files of {known.root}; to add the whole "
                f"folder, remove it first: localdb source remove {known.id}"
            )
        raise InvalidRequest(f"the store already has a source for {known.root}")

    def remove(self, source: Source) -> None:
        """Delete a source and everything indexed from it; the files stay."""
        store = self._catalog.stores.get(source.store_id)
        with WriteSession(self._engines, store) as session:
            session.sweep_source(source.id)


def _root_of(location: str) -> tuple[str, tuple[str, ...], str | None]:
    """Root, include and typed root of a path argument.

    A file is its folder and its own name (L-ING-11). A relative root would mean another
    folder wherever a later run starts, so it is stored absolute, beside what was typed.
    """
    typed, include = _looked_up(location)
    root = _absolute(typed)
    if not _is_utf8(root):
        raise InvalidRequest(
            f"the folder {root!r} has a name that is not UTF-8; rename it, or add the one above it"
        )
    return root, include, None if os.path.isabs(typed) else typed


def _place_of(location: str, kind: str) -> tuple[str | None, tuple[str, ...], str | None]:
    """The same for other kinds: an address has no root; what a plugin takes need not exist."""
    if not location or "\0" in location or not _is_utf8(location):
        raise InvalidRequest(f"{location!r} is no place where a {kind} source can be")
    if kind in ("url", "feed") or "://" in location:
        return None, (), None
    return _absolute(location), (), None if os.path.isabs(location) else location


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _absolute(typed: str) -> str:
    if os.path.isabs(typed):
        return typed
    try:
        plain, real = os.path.abspath(typed), os.path.realpath(typed)
    except FileNotFoundError as error:
        raise InvalidRequest(
            f"the current folder was deleted, so {typed} is nowhere; change into another one"
        ) from error
    # A link may be on the way to "..": then only the resolved path is the same folder.
    return plain if os.path.realpath(plain) == real else real


def _real(root: str) -> str:
    try:
        return os.path.realpath(root)
    except FileNotFoundError:  # a relative root, and the current folder was deleted
        return root


def _looked_up(location: str) -> tuple[str, tuple[str, ...]]:
    if not location:  # Path("") is the current folder; an unset variable should not add that
        raise InvalidRequest("the path is empty; for the current folder write .")
    path = Path(location).expanduser()
    try:
        if path.is_dir():
            return (str(path) if location.startswith("~") else location), ()
        if path.exists():
            return str(path.parent), (path.name,)
    except OSError as error:
        raise InvalidRequest(f"cannot look at {location}: {error.strerror}") from error
    except ValueError as error:  # a NUL in the name
        raise InvalidRequest(f"{location!r} is not a path: {error}") from error
    raise InvalidRequest(f"there is no file or folder {location}")
