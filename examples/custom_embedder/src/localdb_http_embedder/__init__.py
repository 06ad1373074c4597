"""Vectors from an OpenAI-compatible service, for localdb, on the standard library's HTTP."""
