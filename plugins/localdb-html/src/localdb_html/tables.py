"""Tables made fit for Markdown, which knows neither spans nor tables in cells."""

from __future__ import annotations

from lxml.html import HtmlElement

from localdb_html.tree import text_size

_PARTS = ("table", "thead", "tbody", "tfoot", "tr", "td", "th")
_BLOCKS = ("table", "pre", "h1", "h2", "h3", "h4", "h5", "h6")
_LONG_CELL = 1000  # characters; nobody writes that into a cell of a data table
_MOST_SPANNED = 1000  # rows; a larger span is a mistake or an attack


def straighten(element: HtmlElement) -> None:
    """Unwrap layout tables, drop empty rows, fill the holes that row spans leave."""
    # Innermost first: an outer table is judged by what is left in it.
    for table in reversed(list(element.iter("table"))):
        if _is_layout(table):
            for part in [e for e in table.iter(*_PARTS) if _owner(e) is table]:
                part.tag = "div"
        else:
            _tidy_rows(table)


def _owner(part: HtmlElement) -> HtmlElement | None:
    return part if part.tag == "table" else next(part.iterancestors("table"), None)


def _is_layout(table: HtmlElement) -> bool:
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return True
    if any(e is not table for e in table.iter(*_BLOCKS)):
        return True
    return any(text_size(cell) > _LONG_CELL for cell in table.iter("td"))


def _tidy_rows(table: HtmlElement) -> None:
    waiting: dict[int, int] = {}  # column → rows that a cell above still covers
    for row in list(table.iter("tr")):
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        if not any(text_size(cell) or next(cell.iter("img"), None) is not None for cell in cells):
            row.drop_tree()
            continue
        _fill(row, cells, waiting)


def _fill(row: HtmlElement, cells: list[HtmlElement], waiting: dict[int, int]) -> None:
    column = 0
    for cell in cells:
        while waiting.get(column, 0) > 0:
            cell.addprevious(row.makeelement("td"))
            waiting[column] -= 1
            column += 1
        width, height = _span(cell, "colspan"), _span(cell, "rowspan")
        for covered in range(column, column + width):
            waiting[covered] = height - 1
        column += width
    while waiting.get(column, 0) > 0:
        row.append(row.makeelement("td"))
        waiting[column] -= 1
        column += 1


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name) or ""
    return max(1, min(_MOST_SPANNED, int(value))) if value.isdecimal() else 1
