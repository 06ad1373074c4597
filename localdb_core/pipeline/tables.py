"""Tables as Markdown pipe tables (L-PAR-23)."""

from __future__ import annotations

from collections.abc import Sequence

from localdb_core.domain import Block


def table_block(rows: Sequence[Sequence[str]], *, page: int | None) -> Block:
    """A table block; the first row is the header, short rows are padded."""
    width = max(map(len, rows))
    lines = [_row(row, width) for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return Block.table(
        "\n".join(lines),
        headers=list(rows[0]) + [""] * (width - len(rows[0])),
        rows=len(rows) - 1,
        page=page,
    )


def _row(cells: Sequence[str], width: int) -> str:
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return "| " + " | ".join(escaped + [""] * (width - len(cells))) + " |"
