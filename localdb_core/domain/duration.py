"""Durations as people write them: ``24h``, ``15m``, ``90s`` or ``90``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from localdb_core.domain.errors import InvalidRequest

_UNITS: Final = {"h": 3600, "m": 60, "s": 1, "": 1}
_FORM: Final = re.compile(r"([0-9]+)([hms]?)")
_LONGEST: Final = timedelta(days=36_500)  # a date that far ahead still has a four-digit year


def parse_duration(text: str) -> timedelta | None:
    """How long ``text`` means; None for an empty one, which is never.

    Raises:
        InvalidRequest: it is no number with one of the units, is zero or over 100 years.
    """
    if not text:
        return None
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    form = _FORM.fullmatch(text)
    if form is None:
        raise InvalidRequest(f"{shown!r} is no duration; write a number and h, m or s, as in 24h")
    digits, unit = form[1].lstrip("0"), form[2]
    if not digits:
        raise InvalidRequest(f"the duration {shown!r} must be greater than zero")
    # Judged by length first: Python refuses to read a number of thousands of digits.
    if len(digits) > 12 or int(digits) * _UNITS[unit] > _LONGEST.total_seconds():
        raise InvalidRequest(f"the duration {shown!r} is longer than 100 years")
    return timedelta(seconds=int(digits) * _UNITS[unit])
