"""Chroma as localdb's vector index."""
