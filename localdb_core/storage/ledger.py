"""What is promised to the indexes: dirty flag, generation, pending deletions (E-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localdb_core.storage.connections import Connections


@dataclass(frozen=True, slots=True)
class IndexState:
    """What the catalog knows about one index folder of a store.

    ``generation`` is the store's generation at which the index was last complete;
    ``seal`` is what its folder looked like then.
    """

    engine: str
    generation: int
    language: str | None
    fingerprint: str | None
    seal: str = ""


class Ledger:
    """Bookkeeping between the catalog and the indexes of a store.

    The dirty flag counts only for whoever holds the store's writer lock.
    """

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def generation(self, store_id: str) -> tuple[int, bool]:
        """The store's generation and dirty flag; (0, False) for a store that is gone."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT index_generation, index_dirty FROM stores WHERE id = ?", (store_id,)
            ).fetchone()
        return (0, False) if row is None else (row[0], bool(row[1]))

    def set_dirty(self, store_id: str) -> None:
        """Say that the indexes are about to differ from the catalog."""
        with self._db.write() as db:
            db.execute("UPDATE stores SET index_dirty = 1 WHERE id = ?", (store_id,))

    def pending(self, store_id: str) -> list[str]:
        """Chunk ids the catalog has dropped and the indexes may still hold."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT chunk_id FROM pending_deletes WHERE store_id = ?", (store_id,)
            )
            return [row[0] for row in rows]

    def add_pending(self, store_id: str, chunk_ids: Sequence[str]) -> None:
        """Chunk ids that the indexes may hold and the catalog does not."""
        with self._db.write() as db:
            db.executemany(
                "INSERT OR IGNORE INTO pending_deletes (store_id, chunk_id) VALUES (?, ?)",
                [(store_id, chunk) for chunk in chunk_ids],
            )

    def settle(self, store_id: str, states: dict[str, IndexState], *, clean: bool) -> int:
        """Record that every index in ``states`` (by leg) now equals the catalog.

        Clears the pending deletions and bumps the generation; ``clean`` also clears
        the dirty flag. Returns the new generation.
        """
        with self._db.write() as db:
            db.execute("DELETE FROM pending_deletes WHERE store_id = ?", (store_id,))
            db.execute(
                "UPDATE stores SET index_generation = index_generation + 1,"
                " index_dirty = CASE WHEN ? THEN 0 ELSE index_dirty END WHERE id = ?",
                (clean, store_id),
            )
            row = db.execute(
                "SELECT index_generation FROM stores WHERE id = ?", (store_id,)
            ).fetchone()
            generation = 0 if row is None else int(row[0])
            if row is None:
                return 0
            db.executemany(
                "INSERT INTO index_state VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (store_id, leg, engine) DO UPDATE SET"
                " generation = excluded.generation, language = excluded.language,"
                " fingerprint = excluded.fingerprint, seal = excluded.seal",
                [
                    (
                        store_id,
                        leg,
                        state.engine,
                        generation,
                        state.language,
                        state.fingerprint,
                        state.seal,
                    )
                    for leg, state in states.items()
                ],
            )
        return generation

    def state(self, store_id: str, leg: str, engine: str) -> IndexState | None:
        """What was last recorded about one index; None when it was never complete."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT engine, generation, language, fingerprint, seal FROM index_state"
                " WHERE store_id = ? AND leg = ? AND engine = ?",
                (store_id, leg, engine),
            ).fetchone()
        return None if row is None else IndexState(*row)

    def forget(self, store_id: str, leg: str, engine: str) -> None:
        """The index folder is not to be trusted any more."""
        with self._db.write() as db:
            db.execute(
                "DELETE FROM index_state WHERE store_id = ? AND leg = ? AND engine = ?",
                (store_id, leg, engine),
            )
