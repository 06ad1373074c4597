"""The writer lock of a store: one process writes its indexes at a time."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from localdb_core.domain.errors import IndexInProgress, StorageUnavailable


class StoreLock:
    """``<data>/locks/<store id>.lock``, held by the operating system, freed by a crash."""

    def __init__(self, data_dir: Path, store_id: str, *, name: str = "") -> None:
        self._path = data_dir / "locks" / f"{store_id}.lock"
        self._name = name or store_id
        self._lock = FileLock(self._path, thread_local=False)

    def acquire(self) -> None:
        """Take it at once. Raises IndexInProgress when somebody else has it."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise IndexInProgress(
                f"store {self._name!r} is being written by another process; "
                "wait for it, or stop it with Ctrl-C there"
            ) from None
        except OSError as error:
            raise StorageUnavailable(f"cannot lock {self._path}: {error.strerror}") from error

    def release(self) -> None:
        """Give it back; harmless when it is not held."""
        self._lock.release(force=True)

    def is_free(self) -> bool:
        """Whether nobody holds it at this moment; makes nothing."""
        if not self._path.exists():
            return True
        try:
            self.acquire()
        except IndexInProgress:
            return False
        self.release()
        return True
