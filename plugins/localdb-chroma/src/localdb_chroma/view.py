"""A private view of an index folder, so that reading changes nothing in it.

Chroma writes even when it is only asked: a row for every start into its SQLite file, and
new graph files where none were saved. A folder that readers change cannot be sealed, and
damage in it not be told from use. So a reader gets a folder of its own, with a copy of the
SQLite file (about 400 bytes an entry) and a link to the graph, which Chroma only reads.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

DATABASE: Final = "chroma.sqlite3"
_SAVED_GRAPH: Final = "index_metadata.pickle"
_PREFIX: Final = "reader-"


class View:
    """The folder ``path``, gone after :meth:`close`.

    Raises OSError or ValueError for a folder that cannot be copied.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        _clear(scratch)
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=scratch))
        try:
            _copy_database(folder / DATABASE, self.path / DATABASE)
            for graph in folder.iterdir():
                if (graph / _SAVED_GRAPH).is_file():
                    _link(graph, self.path / graph.name)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the folder. May be called twice."""
        shutil.rmtree(self.path, ignore_errors=True)


def _copy_database(source: Path, target: Path) -> None:
    """A consistent copy, whoever is writing; damage that SQLite sees is a ValueError."""
    uri = f"{source.absolute().as_uri()}?mode=ro"
    try:
        with (
            closing(sqlite3.connect(uri, uri=True)) as origin,
            closing(sqlite3.connect(target)) as copy,
        ):
            origin.backup(copy)
    except sqlite3.Error as error:
        raise ValueError(str(error)) from error


def _link(graph: Path, target: Path) -> None:
    try:
        target.symlink_to(graph.absolute(), target_is_directory=True)
    except OSError:  # a file system, or a user of Windows, that may make no links
        shutil.copytree(graph, target)


def _clear(scratch: Path) -> None:
    """Remove what killed readers left behind."""
    for left in scratch.glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not _runs(int(owner)):
            shutil.rmtree(left, ignore_errors=True)


def _runs(process: int) -> bool:
    if os.name == "nt":
        return True  # asking would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
