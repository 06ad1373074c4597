"""The steps of the catalog, one module each, and what runs them.

``m0002_chunking.py`` holds ``STEP``, the :class:`~localdb_core.plugin.Migration` to version
2. A new step is a new module *and* the same change in :mod:`localdb_core.storage.ddl`; a test
compares the two. A released step never changes.

A step of the kind ``reindex`` marks what is to be read again: ``UPDATE resources SET stale = 1``.
The next index run renews marked documents whatever else says they are unchanged, and a
renewed document has no mark.
"""
