"""Chroma on one folder: opening it for ourselves alone, and saving its graph on purpose.

Left to itself Chroma writes its vector graph to disk whenever 1,000 changes have
piled up, in whatever process happens to look, a reading one included. Two processes
do not bear that: in each of four runs with one writer and one reader the files were
spoilt or the reader crashed. So the threshold stands at a number nobody reaches, and
only the writer lowers it, for a moment, in :meth:`Database.save_graph`. Until then
changes live in Chroma's SQLite log and are put into the graph again by each process
that opens the folder.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from localdb_core.domain import StorageUnavailable

COLLECTION: Final = "chunks"
NEVER: Final = 1_000_000_000
_AT_ONCE: Final = 2
_HNSW: Final = {
    "space": "cosine",
    "max_neighbors": 16,
    "ef_construction": 128,
    "ef_search": 200,
    "sync_threshold": NEVER,
}
# Chroma keeps its open systems in a class variable; one may look at it at a time.
_OPENING: Final = threading.Lock()


class Database:
    """An open Chroma folder with its one collection, shared with nobody in the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._system: Any = None  # Any: Chroma's types differ from release to release
        self._client: Any = None
        self._collection: Any = None
        self.batch = 0
        self._open()

    @property
    def collection(self) -> Any:
        """The collection. Raises StorageUnavailable after :meth:`close`."""
        if self._collection is None:
            raise StorageUnavailable(f"the Chroma index in {self._folder} is closed or has no data")
        return self._collection

    @property
    def has_collection(self) -> bool:
        """Whether the collection was ever made."""
        return self._collection is not None

    @property
    def being_saved(self) -> bool:
        """Whether a writer is saving the graph, or was killed while it did."""
        hnsw: Any = self.collection.configuration_json.get("hnsw") or {}
        return bool(hnsw.get("sync_threshold") != NEVER)

    def create(self, metadata: dict[str, str | int]) -> None:
        """Make the collection."""
        self._collection = self._client.create_collection(
            COLLECTION,
            configuration={"hnsw": _HNSW},
            metadata=metadata,
            embedding_function=None,
        )

    def catch_up(self) -> None:
        """Read once before the first write after opening.

        A first write that comes before any read is put into the graph a second time
        by the first read: 1,000 rows then cost 9 CPU seconds instead of 0.5.
        """
        self.collection.count()

    def save_graph(self, probe: list[float]) -> None:
        """Put everything in the log into the graph and write it to disk."""
        self._set_threshold(_AT_ONCE)
        self._reopen()  # a loaded graph keeps the threshold it was loaded with
        self.collection.query(query_embeddings=[probe], n_results=1, include=[])
        self.forget_saving()

    def forget_saving(self) -> None:
        """Back to never writing the graph."""
        self._set_threshold(NEVER)
        self._reopen()
        self.catch_up()

    def close(self) -> None:
        """Release every file."""
        self._collection = None
        if self._system is not None:
            self._system.stop()
            self._system = None

    def _set_threshold(self, changes: int) -> None:
        with warnings.catch_warnings():
            # Chroma calls a collection without an embedding function "legacy".
            warnings.filterwarnings("ignore", "legacy embedding function", DeprecationWarning)
            self.collection.modify(configuration={"hnsw": {"sync_threshold": changes}})

    def _reopen(self) -> None:
        self.close()
        self._open()

    def _open(self) -> None:
        os.environ["ANONYMIZED_TELEMETRY"] = "False"
        from chromadb.api import ServerAPI  # 700 ms
        from chromadb.api.client import Client
        from chromadb.config import Settings, System
        from chromadb.errors import NotFoundError

        settings = Settings(
            _env_file=None,  # type: ignore[call-arg]  # a stray .env in the working folder
            anonymized_telemetry=False,
            chroma_api_impl="chromadb.api.rust.RustBindingsAPI",
            is_persistent=True,
            persist_directory=str(self._folder),
        )
        system = System(settings)
        # Started here, a file that is no database is named; later it would not be.
        system.instance(ServerAPI)  # type: ignore[type-abstract]  # Chroma picks the class
        system.start()
        self._system = system
        try:
            with _OPENING:
                # PersistentClient would hand out a system that is open already, with the
                # graph as it was when that one was loaded.
                self._client = Client.from_system(system)
                self._client.clear_system_cache()
            self.batch = self._client.get_max_batch_size()
            self._collection = self._client.get_collection(COLLECTION, embedding_function=None)
        except NotFoundError:
            self._collection = None
        except BaseException:
            self.close()
            raise


@contextmanager
def failures_named(folder: Path) -> Iterator[None]:
    """What Chroma raises becomes StorageUnavailable with the folder in it."""
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
        raise _unusable(folder, error) from error
    except BaseException as error:
        # A panic of the Rust core is no Exception; unseen, it would end the program.
        if type(error).__name__ != "PanicException":
            raise
        raise _unusable(folder, error) from error


def _unusable(folder: Path, error: BaseException) -> StorageUnavailable:
    reason = str(error).strip() or type(error).__name__
    return StorageUnavailable(
        f"the Chroma index in {folder} cannot be used ({reason}); rebuild the dense index"
    )
