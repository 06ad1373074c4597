"""Searching: legs → fuse → cut → cite."""
