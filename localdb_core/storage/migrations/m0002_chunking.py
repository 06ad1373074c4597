"""Version 2: how each document was cut, and a mark on documents to be read again."""

from __future__ import annotations

from localdb_core.plugin import Migration

STEP = Migration(
    version=2,
    name="chunking",
    up=(
        "ALTER TABLE resources ADD COLUMN chunking TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE resources ADD COLUMN stale INTEGER NOT NULL DEFAULT 0",
    ),
    down=(
        "ALTER TABLE resources DROP COLUMN stale",
        "ALTER TABLE resources DROP COLUMN chunking",
    ),
)
