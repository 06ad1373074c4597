"""Version 1: the first catalog. Frozen, as every released step."""

from __future__ import annotations

from localdb_core.plugin import Migration

_UP = (
    """
    CREATE TABLE embedders (
        id INTEGER PRIMARY KEY,
        fingerprint TEXT NOT NULL UNIQUE,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        encoding TEXT NOT NULL,
        languages TEXT
    ) STRICT
    """,
    """
    CREATE TABLE stores (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        visibility TEXT NOT NULL DEFAULT 'private',
        backend TEXT NOT NULL DEFAULT 'sqlite',
        indexing_policy TEXT,
        policy_version TEXT NOT NULL DEFAULT '',
        acl TEXT NOT NULL DEFAULT '{}',
        created_at TEXT NOT NULL,
        embedder_id INTEGER REFERENCES embedders(id),
        index_dirty INTEGER NOT NULL DEFAULT 0,
        index_generation INTEGER NOT NULL DEFAULT 0,
        index_dense TEXT,
        index_sparse TEXT
    ) STRICT
    """,
    """
    CREATE TABLE sources (
        id TEXT PRIMARY KEY,
        store_id TEXT NOT NULL REFERENCES stores(id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        root TEXT,
        url TEXT,
        include TEXT NOT NULL DEFAULT '[]',
        exclude TEXT NOT NULL DEFAULT '[]',
        preset TEXT NOT NULL DEFAULT 'prose',
        refresh TEXT,
        created_at TEXT NOT NULL,
        config_json TEXT,
        UNIQUE (store_id, id)
    ) STRICT
    """,
    "CREATE UNIQUE INDEX sources_root ON sources(store_id, root) WHERE root IS NOT NULL",
    "CREATE UNIQUE INDEX sources_url ON sources(store_id, url) WHERE url IS NOT NULL",
    """
    CREATE TABLE resources (
        rid INTEGER PRIMARY KEY,
        store_id TEXT NOT NULL REFERENCES stores(id) ON DELETE CASCADE,
        id TEXT NOT NULL,
        source_id TEXT NOT NULL,
        ingestor_kind TEXT NOT NULL,
        resource_kind TEXT NOT NULL DEFAULT 'document',
        uri TEXT NOT NULL,
        external_id TEXT,
        external_etag TEXT,
        content_hash TEXT NOT NULL,
        title TEXT,
        mime TEXT,
        language TEXT,
        date_original TEXT,
        date_parsed TEXT,
        added_at TEXT NOT NULL,
        modified_at TEXT,
        thread_id TEXT,
        channel TEXT,
        participants TEXT,
        metadata_json TEXT NOT NULL DEFAULT '{}',
        origin_store TEXT,
        policy_version TEXT NOT NULL,
        share_path TEXT,
        extractor_version TEXT NOT NULL DEFAULT '1',
        size INTEGER,
        mtime_ns INTEGER,
        raw_hash TEXT,
        parser TEXT,
        parser_version TEXT,
        UNIQUE (store_id, id),
        FOREIGN KEY (store_id, source_id) REFERENCES sources(store_id, id) ON DELETE CASCADE
    ) STRICT
    """,
    "CREATE INDEX resources_uri ON resources(store_id, uri)",
    "CREATE INDEX resources_source ON resources(store_id, source_id)",
    """
    CREATE TABLE blocks (
        resource_rid INTEGER NOT NULL REFERENCES resources(rid) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        metadata_json TEXT NOT NULL DEFAULT '{}',
        location_json TEXT,
        PRIMARY KEY (resource_rid, seq)
    ) STRICT
    """,
    """
    CREATE TABLE chunks (
        rid INTEGER PRIMARY KEY,
        store_id TEXT NOT NULL,
        resource_rid INTEGER NOT NULL REFERENCES resources(rid) ON DELETE CASCADE,
        id TEXT NOT NULL,
        block_seq INTEGER NOT NULL,
        seq_in_block INTEGER NOT NULL,
        block_kind TEXT NOT NULL,
        text TEXT NOT NULL,
        trail TEXT NOT NULL DEFAULT '',
        heading_path TEXT NOT NULL DEFAULT '[]',
        location_json TEXT NOT NULL,
        UNIQUE (store_id, id)
    ) STRICT
    """,
    "CREATE INDEX chunks_resource ON chunks(resource_rid, block_seq, seq_in_block)",
    """
    CREATE TABLE vectors (
        chunk_rid INTEGER NOT NULL REFERENCES chunks(rid) ON DELETE CASCADE,
        embedder_id INTEGER NOT NULL REFERENCES embedders(id),
        text_hash BLOB NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (chunk_rid, embedder_id)
    ) STRICT
    """,
    "CREATE INDEX vectors_text ON vectors(embedder_id, text_hash)",
    """
    CREATE VIRTUAL TABLE chunks_fts USING fts5(
        trail, text, content='chunks', content_rowid='rid', tokenize='porter unicode61'
    )
    """,
    """
    CREATE TRIGGER chunks_ai AFTER INSERT ON chunks BEGIN
        INSERT INTO chunks_fts(rowid, trail, text) VALUES (new.rid, new.trail, new.text);
    END
    """,
    """
    CREATE TRIGGER chunks_ad AFTER DELETE ON chunks BEGIN
        INSERT INTO chunks_fts(chunks_fts, rowid, trail, text)
        VALUES ('delete', old.rid, old.trail, old.text);
    END
    """,
    """
    CREATE TRIGGER chunks_au AFTER UPDATE OF trail, text ON chunks BEGIN
        INSERT INTO chunks_fts(chunks_fts, rowid, trail, text)
        VALUES ('delete', old.rid, old.trail, old.text);
        INSERT INTO chunks_fts(rowid, trail, text) VALUES (new.rid, new.trail, new.text);
    END
    """,
    """
    CREATE TABLE index_state (
        store_id TEXT NOT NULL REFERENCES stores(id) ON DELETE CASCADE,
        leg TEXT NOT NULL,
        engine TEXT NOT NULL,
        generation INTEGER NOT NULL,
        language TEXT,
        fingerprint TEXT,
        seal TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (store_id, leg, engine)
    ) STRICT
    """,
    """
    CREATE TABLE pending_deletes (
        store_id TEXT NOT NULL REFERENCES stores(id) ON DELETE CASCADE,
        chunk_id TEXT NOT NULL,
        PRIMARY KEY (store_id, chunk_id)
    ) STRICT
    """,
    """
    CREATE TABLE jobs (
        id TEXT PRIMARY KEY,
        store_id TEXT NOT NULL,
        scope TEXT NOT NULL,
        state TEXT NOT NULL,
        stats TEXT NOT NULL,
        error TEXT,
        error_code TEXT,
        created_at TEXT NOT NULL,
        started_at TEXT,
        completed_at TEXT
    ) STRICT
    """,
    """
    CREATE TABLE sync_state (
        source_id TEXT PRIMARY KEY REFERENCES sources(id) ON DELETE CASCADE,
        state_json TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE schema_migrations (
        version INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        applied_at TEXT NOT NULL,
        down_sql TEXT,
        down_unsupported_reason TEXT,
        checksum TEXT NOT NULL,
        CHECK ((down_sql IS NULL) <> (down_unsupported_reason IS NULL))
    ) STRICT
    """,
)

STEP = Migration(
    version=1,
    name="baseline",
    up=_UP,
    irreversible="the first version has no version before it",
)
