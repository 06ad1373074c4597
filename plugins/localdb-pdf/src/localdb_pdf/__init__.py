"""PDF parser for localdb, on pypdf."""
