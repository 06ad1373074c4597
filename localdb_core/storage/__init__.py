"""The catalog (one SQLite file, the truth) and the indexes that are copies of it."""
