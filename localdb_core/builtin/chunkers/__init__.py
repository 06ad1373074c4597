"""The built-in chunkers (spec §5)."""
