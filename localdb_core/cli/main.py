"""The command ``localdb``: the root group and the outermost error handler."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from localdb_core.cli.command import Group
from localdb_core.cli.state import State

_HERE: Final = "localdb_core.cli"

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "add": (f"{_HERE}.sources:add", "Add folders, files or addresses and index them."),
    "db": (f"{_HERE}.db:db", "Show, migrate and pack the database."),
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

root = Group(
    "localdb",
    lazy=COMMANDS,
    help="Search your own documents, with citations that can be checked.",
    examples=["localdb add ~/notes", "localdb search how do I renew the lease"],
)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the program and leave with its exit status."""
    sys.exit(main(sys.argv[1:] if arguments is None else arguments))


def main(arguments: Sequence[str]) -> int:
    """Run one command; its exit status (L-ERR-02)."""
    state = State()
    try:
        with state:
            result = root.main(
                list(arguments), prog_name="localdb", standalone_mode=False, obj=state
            )
    # The outermost handler: whatever went wrong becomes one line and a status.
    except BaseException as error:  # noqa: BLE001
        from localdb_core.cli.failure import report  # sqlite3, and only when it is needed

        return report(error, state, arguments)
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    run()
