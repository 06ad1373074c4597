"""The ``path`` source: a folder on this machine (spec §3.1, §3.2)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from localdb_core.builtin.globs import MAGIC, Globs
from localdb_core.domain import Source
from localdb_core.domain.clock import utc_from_ns
from localdb_core.domain.formats import stored_mime
from localdb_core.domain.uri import file_uri
from localdb_core.plugin import Accepts, Item, Listing, PluginContext, Problem

DEFAULT_EXCLUDES: Final = (
    "**/.git",
    "**/node_modules",
    "**/.DS_Store",
    "**/target",
    "**/__pycache__",
    "**/.venv",
)
"""Left out when a source names no excludes of its own."""

MOST_VISITS = 8
"""How often one folder is walked under different names; links can multiply without end."""

_Identity = tuple[int, int]


class PathSource:
    """Walks a folder; follows links, never in circles."""

    def __init__(self, context: PluginContext) -> None:
        del context

    def list(self, source: Source, accepts: Accepts) -> Listing:
        """Every file of the source that an installed parser may want, sorted by URI."""
        try:
            root = os.path.realpath(source.root or ".")
        except FileNotFoundError:
            reason = f"root unavailable: {source.root}; the current folder was deleted"
            return Listing(complete=False, reason=reason)
        if not os.path.isdir(root):
            return Listing(complete=False, reason=_unavailable(source.root or "."))
        walk = _Walk(
            root=root,
            excludes=Globs(source.exclude or DEFAULT_EXCLUDES),
            wants=_wanted(source.include, accepts),
        )
        if source.include and all(_is_literal(root, name) for name in source.include):
            # One file of a large folder: look at it, not at its neighbours.
            walk.look_at(source.include)
        else:
            walk.run()
        return walk.listing()


def _unavailable(written: str) -> str:
    reason = f"root unavailable: {written}"
    # It was found from the folder in which it was added, and may be from there again.
    return reason if os.path.isabs(written) else f"{reason}, looked for in {os.getcwd()}"


def _wanted(include: tuple[str, ...], accepts: Accepts) -> Callable[[str, str], bool]:
    if include:
        globs = Globs(include)
        return lambda relative, name: globs.match(relative)
    # Worked out anew at each run, so a parser installed later finds its files (L-ING-12).
    return lambda relative, name: accepts.takes(name)


def _is_literal(root: str, pattern: str) -> bool:
    return not MAGIC.search(pattern) or (
        "*" not in pattern and os.path.lexists(os.path.join(root, pattern))
    )


@dataclass(slots=True)
class _Folder:
    path: str  # canonical
    relative: str  # as the user sees it, "" or ending in "/"
    above: frozenset[_Identity]
    is_link: bool = False


@dataclass(slots=True)
class _Walk:
    root: str
    excludes: Globs
    wants: Callable[[str, str], bool]
    _items: dict[str, Item] = field(default_factory=dict)
    _problems: dict[str, Problem] = field(default_factory=dict)
    _hidden: dict[str, Problem] = field(default_factory=dict)
    _visits: dict[_Identity, int] = field(default_factory=dict)
    _reason: str = ""

    def run(self) -> None:
        """Walk everything; folders reached by a link come after the real ones."""
        folders, linked = [_Folder(self.root, "", frozenset())], list[_Folder]()
        while folders or linked:
            folder = folders.pop() if folders else linked.pop(0)
            for child in self._folder(folder):
                (linked if child.is_link else folders).append(child)

    def look_at(self, names: tuple[str, ...]) -> None:
        """Only these files, relative to the root."""
        for name in names:
            relative = os.path.normpath(name)
            parts = relative.split("/")
            if os.path.isabs(relative) or parts[0] == "..":
                continue  # not below the root
            if any(
                self._excluded("/".join(parts[:end]), parts[end - 1])
                for end in range(1, len(parts) + 1)
            ):
                continue
            path = os.path.join(self.root, relative)
            self._file(path, parts[-1], is_link=True)

    def listing(self) -> Listing:
        """What was found."""
        problems = [problem for uri, problem in self._problems.items() if uri not in self._items]
        return Listing(
            items=sorted(self._items.values(), key=lambda item: item.uri),
            problems=sorted(problems, key=lambda problem: problem.uri),
            complete=not self._reason,
            reason=self._reason,
            hidden=sorted(self._hidden.values(), key=lambda folder: folder.uri),
        )

    def _folder(self, folder: _Folder) -> Iterator[_Folder]:
        try:
            status = os.stat(folder.path)
            identity = (status.st_dev, status.st_ino)
            visits = self._visits.get(identity, 0)
            if identity in folder.above or visits >= MOST_VISITS:
                return
            self._visits[identity] = visits + 1
            with os.scandir(folder.path) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            # L-INV-05: nobody may conclude anything from what was not seen.
            self._incomplete(folder, error)
            return
        if folder.is_link and not entries:  # as the root of a source would be (L-ING-53)
            self._hide(folder.path, f"the folder behind the link {folder.relative} is empty now")
        above = folder.above | {identity}
        for entry in entries:
            relative = folder.relative + entry.name
            if self._excluded(relative, entry.name):
                continue
            is_link = entry.is_symlink()
            if _is_folder(entry):
                path = os.path.realpath(entry.path) if is_link else entry.path
                yield _Folder(path, relative + "/", above, is_link)
                continue
            if is_link:
                self._follow(entry.path, relative)
            if self.wants(relative, entry.name):
                self._file(entry.path, entry.name, is_link=is_link)

    def _follow(self, path: str, relative: str) -> None:
        """A link that leads nowhere now may have led to a folder, on a disk that is away."""
        try:
            os.stat(path)
        except OSError as error:
            reason = f"the link {relative} leads nowhere now ({error.strerror}); mend or remove it"
            self._hide(os.path.realpath(path), reason)

    def _hide(self, path: str, reason: str) -> None:
        uri = file_uri(Path(path))
        self._hidden.setdefault(uri, Problem(uri, reason))

    def _incomplete(self, folder: _Folder, error: OSError) -> None:
        if not folder.relative:
            self._reason = f"root unavailable: {error.strerror}"
        elif not self._reason:
            self._reason = f"cannot read the folder {folder.relative}: {error.strerror}"

    def _excluded(self, relative: str, name: str) -> bool:
        return self.excludes.match(relative) or self.excludes.match(name)

    def _file(self, path: str, name: str, *, is_link: bool) -> None:
        real = os.path.realpath(path) if is_link else path
        uri = file_uri(Path(real))
        try:
            status = os.stat(path)
        except FileNotFoundError:
            if os.path.islink(path):
                self._problems[uri] = Problem(uri, f"broken link: {name} leads here")
            return  # else it vanished since the folder was read
        except OSError as error:
            self._problems[uri] = Problem(uri, error.strerror or "cannot be read")
            return
        # A pipe would block its reader for ever, a device may never end.
        if stat.S_ISREG(status.st_mode) and (uri not in self._items or not is_link):
            self._items[uri] = Item(
                uri=uri,
                locator=uri,
                path=Path(real),
                name=name,
                size=status.st_size,
                mtime_ns=status.st_mtime_ns,
                added_at=utc_from_ns(status.st_mtime_ns),
                mime=stored_mime(name),
            )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle, or into a folder that may not be entered
        return False
