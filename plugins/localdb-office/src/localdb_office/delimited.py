"""CSV and its relatives: the delimiter is worked out, the file becomes one table."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from localdb_core.plugin import Progress
from localdb_office.markdown import pipe_table

_DELIMITERS = (",", ";", "\t", "|")
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SAMPLE = 1 << 16  # characters looked at for the delimiter
_SAMPLE_ROWS = 50
_DETECTION_ZONE = 1 << 16  # bytes
_REPORT_EVERY = 1000  # rows
_NUL = "\x00"
_BINARY = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_BINARY_SHARE = 10


def read_csv(
    path: Path, progress: Progress, *, max_rows: int, suffix: str
) -> tuple[str, list[str]] | None:
    """The file as one table and warnings, or None when no encoding fits."""
    text = _decode(path.read_bytes())
    if text is None:
        return None
    # Python's default stops at 128 KiB a field; the limit is one for the process.
    csv.field_size_limit(sys.maxsize)
    delimiter = _delimiter(text[:_SAMPLE], "\t" if suffix == ".tsv" else ",")
    rows: list[list[str]] = []
    for number, row in enumerate(_reader(text, delimiter), 1):
        if number % _REPORT_EVERY == 0:
            progress(number, None)
        if not any(cell.strip() for cell in row):
            continue
        if len(rows) >= max_rows:
            return pipe_table(rows), [f"only the first {max_rows} rows were read"]
        rows.append(row)
    return pipe_table(rows), []


def _reader(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _delimiter(sample: str, default: str) -> str:
    """The delimiter that cuts most rows to the same width of two or more."""
    best, best_score = default, (0.0, 0)
    for candidate in sorted(_DELIMITERS, key=lambda d: d != default):
        rows = [
            row for row, _ in zip(_reader(sample, candidate), range(_SAMPLE_ROWS), strict=False)
        ]
        widths = Counter(len(row) for row in rows if row)
        if not widths:
            continue
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        score = (count / widths.total(), width)
        if width > 1 and score > best_score:
            best, best_score = candidate, score
    return best


def _decode(data: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").replace(_NUL, "")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        found = _detected(data)
        if found is None:
            return None
        text = found
    head = text[:_DETECTION_ZONE]
    if len(_BINARY.findall(head)) * _BINARY_SHARE > len(head):
        return None
    return text.replace(_NUL, "")


def _detected(data: bytes) -> str | None:
    from charset_normalizer import from_bytes  # 50 ms

    best = from_bytes(data[:_DETECTION_ZONE]).best()
    return data.decode(best.encoding, "replace") if best is not None else None
