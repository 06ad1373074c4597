"""Whoosh as localdb's keyword index."""
