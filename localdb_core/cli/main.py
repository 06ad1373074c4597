"""The command ``localdb``: how it starts, and the outermost error handler.

Nothing but the interpreter's own modules is imported before Ctrl-C is taken care of:
whoever presses it early wants to leave, not to read a traceback.
"""

from __future__ import annotations

import io
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any, NoReturn

    from localdb_core.cli.command import Group
    from localdb_core.cli.state import State

_HERE = "localdb_core.cli"
_INTERRUPTED = 130

COMMANDS: dict[str, tuple[str, str]] = {
    "add": (f"{_HERE}.sources:add", "Add folders, files or addresses and index them."),
    "completions": (f"{_HERE}.completions:completions", "Print a script for the shell."),
    "db": (f"{_HERE}.db:db", "Show, migrate and pack the database."),
    "doctor": (f"{_HERE}.doctor:doctor", "Check everything, and say what to mend."),
    "document": (f"{_HERE}.documents:document", "List and show indexed documents."),
    "engine": (f"{_HERE}.engine:engine", "Show and rebuild the indexes."),
    "index": (f"{_HERE}.index:index", "Bring the stores up to date with their sources."),
    "init": (f"{_HERE}.init:init", "Write the config and make the folders."),
    "internal": (f"{_HERE}.internal:internal", ""),
    "mcp": (f"{_HERE}.mcp:mcp", "Serve agents over standard input and output."),
    "plugin": (f"{_HERE}.plugin:plugin", "Show and check plugins."),
    "search": (f"{_HERE}.search:search", "Search, with citations."),
    "source": (f"{_HERE}.sources:source", "Add, list and remove sources."),
    "status": (f"{_HERE}.status:status", "Show the stores and the database."),
    "store": (f"{_HERE}.stores:store", "Add, list and remove stores."),
}
"""Name → where the command is, and one line of help; imported when chosen.

A command without a line is not listed.
"""


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and leave with its exit status."""
    _on_ctrl_c(_leave)
    _fill_standard_descriptors()
    _bear_any_encoding()
    # Its search for plugins of its own reads the metadata of every installed distribution,
    # and one that is damaged would end this program.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    given = sys.argv[1:] if arguments is None else arguments
    try:
        from localdb_core.cli.logs import keep_tracebacks
        from localdb_core.cli.state import State  # click

        keep_tracebacks()
        state = State()
        _on_ctrl_c(signal.default_int_handler)
        status = main(given, state)
        _on_ctrl_c(_leave)
    # Whatever the handlers below could not take: our own modules that are missing or broken.
    except BaseException as error:  # noqa: BLE001
        _on_ctrl_c(_leave)
        status = _last_words(error, given)
    sys.exit(status)


def main(arguments: Sequence[str], state: State | None = None) -> int:
    """Run one command; its exit status (L-ERR-02). ``state`` is for tests."""
    from localdb_core.cli.state import State

    state = State() if state is None else state
    try:
        with state:
            result = root().main(
                list(arguments), prog_name="localdb", standalone_mode=False, obj=state
            )
    # The outermost handler: whatever went wrong becomes one line and a status.
    except BaseException as error:  # noqa: BLE001
        from localdb_core.cli.failure import report  # sqlite3, and only when it is needed

        return report(error, state, arguments)
    return result if isinstance(result, int) else 0


def root() -> Group:
    """The group that holds every command."""
    from localdb_core.cli.command import Group

    return Group(
        "localdb",
        lazy=COMMANDS,
        help="Search your own documents, with citations that can be checked.",
        examples=["localdb add ~/notes", "localdb search how do I renew the lease"],
    )


def _on_ctrl_c(handler: Any) -> None:  # Any: what signal.signal takes
    """Set what Ctrl-C does, unless whoever started us wants it ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def _leave(_: int, __: FrameType | None) -> None:
    """At the beginning and at the end there is nothing to tidy up."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(_INTERRUPTED)


def _fill_standard_descriptors() -> None:
    """Put something harmless where whoever started us closed a standard stream.

    Otherwise the next file that is opened, such as an index, becomes the standard
    error, and every line meant for a person goes into it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def _bear_any_encoding() -> None:
    """Show what a terminal has no letters for in another way, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _last_words(error: BaseException, arguments: Sequence[str]) -> int:
    """Report without any module of ours: one of them may be what is broken."""
    if isinstance(error, KeyboardInterrupt):
        os.write(2, b"interrupted\n")
        return _INTERRUPTED
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if "--verbose" in arguments:
        import traceback

        traceback.print_exception(error)
    message = (
        f"localdb cannot start: {type(error).__name__}: {error}; "
        "install it again: pip install --force-reinstall localdb-core"
    )
    if "--json" in arguments:
        import json

        message = json.dumps({"error": "internal", "message": message})
    else:
        message = f"error: {message}"
    os.write(2, message.encode("utf-8", "backslashreplace") + b"\n")
    return 1


if __name__ == "__main__":
    run()
