"""Texts that no index may mistake for its query syntax, or choke on."""

from __future__ import annotations

from typing import Final

HOSTILE: Final = (
    '"',
    "'; drop table chunks; --",
    "-zebra",
    "zebra*",
    "zebra NEAR/3 quartz",
    "NOT zebra",
    "AND OR NOT",
    "((((zebra",
    "text:zebra^9~2",
    "[a TO z]",
    "zebra\x00quartz",
    "\x00",
    "\ud800",
    "zebra \udfff",
    "🦓🦓 zebra 👩\u200d🚀",
    "図書館で本を読む",
    "\u202ezebra",
    "x" * 100_000,
    " ".join(f"word{n}" for n in range(10_000)),
)
