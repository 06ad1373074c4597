"""The only module that writes: results to ``out``, talk to ``err``."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from localdb_core.cli.logs import as_object
from localdb_core.cli.state import State
from localdb_core.domain.uri import printable

if TYPE_CHECKING:
    from localdb_core.domain.health import Check

_LAYOUT: Final = re.compile(r"[^\n\t]+")
"""What stands between the characters of a text that only lay it out."""
_UNITS: Final = ("B", "KB", "MB", "GB", "TB")
_BINARY_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")


def line(state: State, text: str = "") -> None:
    """One line of a result; control characters in it are replaced."""
    state.out.write(printable(text) + "\n")


def check(state: State, found: Check) -> None:
    """One finding on one line: how bad, what, and what to do."""
    remedy = f"; {found.remedy}" if found.remedy else ""
    shown = f"{found.name}: {found.message}{remedy}"
    line(state, f"{found.status:<4}  {' '.join(shown.split())}")


def text(state: State, content: str) -> None:
    """A document's own text, as it is; a terminal is not given its control characters."""
    if state.out.isatty():
        content = _harmless(content)
    state.out.write(content if content.endswith("\n") else content + "\n")


def data(state: State, value: Any) -> None:  # Any: JSON values
    """A result as JSON, indented."""
    state.out.write(json.dumps(value, indent=2, ensure_ascii=not _is_utf8(state.out)) + "\n")


def note(state: State, message: str, *, level: str = "notice") -> None:
    """Something a person should know; never part of the result.

    With ``--json`` it is an object on a line of its own (ADR 0013). It never fails:
    talk that nobody can hear is no reason to stop.
    """
    if state.json:
        _say(state, as_object(level, message))
    else:
        _say(state, _harmless(message))


def warn(state: State, message: str) -> None:
    """A note that begins with ``Warning:``."""
    note(state, message if state.json else f"Warning: {message}", level="warning")


def error(state: State, code: str, message: str) -> None:
    """Why the command failed: ``error: …``, or the object of L-CLI-48."""
    if state.json:
        _say(state, json.dumps({"error": code, "message": message}))
    else:
        _say(state, _harmless(f"error: {message}"))


def urgent(state: State, message: str) -> None:
    """A note out of a signal handler, where buffered streams must not be touched."""
    said = as_object("notice", message) if state.json else message
    with suppress(OSError):
        os.write(2, f"{said}\n".encode())


def _say(state: State, text: str) -> None:
    with suppress(OSError, ValueError):  # gone, full, or closed
        if not state.out.closed:
            state.out.flush()
    with suppress(OSError, ValueError):
        state.err.write(_encodable(text, state.err) + "\n")
        state.err.flush()


def table(state: State, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns two spaces apart; the header is bold on a terminal."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for number, row in enumerate((header, *rows)):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        shown = printable("  ".join(cells).rstrip())
        state.out.write(_bold(shown, state.out) if number == 0 else shown)
        state.out.write("\n")


def confirm(state: State, question: str) -> bool:
    """Ask before something is destroyed (L-CLI-40).

    Raises:
        click.UsageError: nobody can be asked and ``--yes`` was not given.
    """
    if state.yes:
        return True
    if not state.interactive:
        raise click.UsageError(f"{question} Nobody can be asked; pass --yes")
    state.err.write(_encodable(f"{printable(question)} [y/N] ", state.err))
    state.err.flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    note(state, "Aborted.")
    return False


def size(count: int, *, binary: bool = False) -> str:
    """``1.5 MB``: steps of 1024, one decimal; ``1.5 MiB`` when ``binary``."""
    units = _BINARY_UNITS if binary else _UNITS
    amount = float(count)
    for unit in units[:-1]:
        if amount < 1024:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} {units[-1]}"


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at this stream."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _bold(shown: str, stream: TextIO) -> str:
    colour = is_terminal(stream) and not os.environ.get("NO_COLOR")
    return click.style(shown, bold=True) if colour else shown


def _harmless(text: str) -> str:
    return _LAYOUT.sub(lambda found: printable(found[0]), text)


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def _encodable(message: str, stream: TextIO) -> str:
    """The message without characters this stream would choke on."""
    encoding = stream.encoding or "utf-8"
    return message.encode(encoding, "backslashreplace").decode(encoding)
