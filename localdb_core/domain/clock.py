"""Timestamps as they are stored and shown: RFC 3339, UTC, whole seconds, ``Z``."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Now."""
    return utc_text(datetime.now(UTC))


def utc_from_ns(mtime_ns: int) -> str:
    """A file time in nanoseconds since the epoch; now when no calendar holds it."""
    try:
        return utc_text(datetime.fromtimestamp(mtime_ns // 1_000_000_000, UTC))
    except (OverflowError, ValueError, OSError):
        return utc_now()


def utc_text(moment: datetime) -> str:
    """Any aware moment in the stored form."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
