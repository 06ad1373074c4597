"""Excel workbooks, streamed: one heading and one table per sheet."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from localdb_core.domain import ExtractionFailed
from localdb_core.plugin import Progress
from localdb_office.markdown import escape, heading, pipe_table

_MOST_CELLS = 2_000_000  # of one sheet
_MOST_SCANNED = 2_000_000  # rows; a sheet cannot have more, a damaged one may claim it
_REPORT_EVERY = 500  # rows
Row = dict[int, str]  # column → text; empty cells are left out


def read_xlsx(path: Path, progress: Progress, *, max_rows: int) -> tuple[str, list[str]]:
    """The workbook as Markdown, and warnings about what was left out."""
    import openpyxl  # type: ignore[import-untyped]  # 250 ms

    with warnings.catch_warnings():
        # openpyxl warns about styles and extensions it drops; text is all we want
        warnings.simplefilter("ignore")
        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        except Exception as error:  # noqa: BLE001 - openpyxl lets anything escape
            raise _damaged(error) from error
        try:
            return _sheets(book, progress, max_rows=max_rows)
        finally:
            book.close()


def _sheets(book: Any, progress: Progress, *, max_rows: int) -> tuple[str, list[str]]:
    parts: list[str] = []
    notes: list[str] = []
    done = 0
    for sheet in book.worksheets:  # chart sheets are not among them
        try:
            rows, more = _rows(sheet, progress, done=done, max_rows=max_rows)
        except Exception as error:  # noqa: BLE001 - openpyxl lets anything escape
            raise _damaged(error) from error
        done += len(rows)
        if more:
            notes.append(f"sheet {sheet.title!r}: only the first {len(rows)} rows were read")
        if rows:
            parts.append(heading(sheet.title, level=2))
            parts.extend(_layout(rows))
    return "\n\n".join(parts), notes


def _damaged(error: Exception) -> ExtractionFailed:
    reason = " ".join(str(error).split()) or type(error).__name__
    return ExtractionFailed(f"the workbook is damaged: {reason}")


def _rows(sheet: Any, progress: Progress, *, done: int, max_rows: int) -> tuple[list[Row], bool]:
    sheet.reset_dimensions()  # the stored size is often wrong, in both directions
    rows: list[Row] = []
    cells = 0
    for number, values in enumerate(_bounded(sheet.iter_rows(values_only=True)), 1):
        if number % _REPORT_EVERY == 0:
            progress(done + number, None)
        row = {column: text for column, value in enumerate(values) if (text := _text(value))}
        if not row:
            continue
        cells += len(row)
        if len(rows) >= max_rows or cells > _MOST_CELLS:
            return rows, True
        rows.append(row)
    return rows, False


def _bounded(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    yield from (row for row, _ in zip(rows, range(_MOST_SCANNED), strict=False))


def _layout(rows: list[Row]) -> list[str]:
    """Titles above the table as text, then the table without its empty columns."""
    columns = sorted({column for row in rows for column in row})
    titles = 0
    while titles < len(rows) - 1 and len(rows[titles]) == 1 and len(columns) > 1:
        titles += 1
    parts = [escape(next(iter(row.values()))) for row in rows[:titles]]
    used = sorted({column for row in rows[titles:] for column in row})
    table = [[row.get(column, "") for column in used] for row in rows[titles:]]
    return [*parts, pipe_table(table)]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        whole_day = value.time() == datetime.time()
        return value.date().isoformat() if whole_day else value.isoformat(sep=" ")
    return str(value).strip()
