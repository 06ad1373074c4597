"""Where the documents are, and a localdb of its own for each measurement."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import yaml

from localdb_core.app import LocalDB
from localdb_core.domain.store import Store

ROOT: Final = Path(__file__).parents[2]


def data_folder(*parts: str) -> Path:
    """A folder or file below ``data``; ends the program with one line if it is not there."""
    shared = Path(os.environ.get("LOCALDB_SHARED") or ROOT.parent / "shared")
    path = shared.joinpath("data", *parts)
    if not path.exists():
        sys.exit(f"there is no {path}; set LOCALDB_SHARED to the folder that holds data/")
    return path


def write_config(folder: Path, *, dense: str, sparse: str) -> Path:
    """A config that keeps everything below ``folder`` and names both engines."""
    config = folder / "config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    places = {name: str(folder / name) for name in ("data", "models", "logs")}
    written = {"version": 1, "paths": places, "index": {"dense": dense, "sparse": sparse}}
    config.write_text(yaml.safe_dump(written))
    return config


def open_store(config: Path) -> tuple[LocalDB, Store]:
    """The application and its one store, made if need be."""
    app = LocalDB.open(config)
    found = app.stores.list()
    return app, found[0] if found else app.stores.add("bench")


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Columns under each other; numbers to the right."""
    widths = [max(len(row[n]) for row in [header, *rows]) for n in range(len(header))]
    lines = [
        "  ".join(
            cell.rjust(width) if _is_number(cell) or line == 0 and n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for line, row in enumerate([header, *rows])
    ]
    return "\n".join(lines)


def _is_number(cell: str) -> bool:
    return bool(cell) and cell.replace(",", "").replace(".", "").isdecimal()
