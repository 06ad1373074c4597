"""Which rows of the specification's checklist have a test, which have none, which are left.

``tox run -e rows`` prints one line for each row and fails while the lists are not true. A row
counts as covered by the tests that carry ``@pytest.mark.req("ID")`` and would run here: pytest
itself collects them, so marks on modules, classes and single parameters count, and a test that is
skipped or expected to fail does not.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
TIERS: Final = ("must", "should", "beyond")
# In these areas a should-row, too, is covered or left with a reason.
CORE_AREAS: Final = frozenset(
    ("INV", "DMN", "DOM", "CFG", "STO", "LOG", "ING", "PAR", "CHK", "EMB", "SRCH")
    + ("CLI", "ERR", "MCP")
)


@dataclass(frozen=True)
class Left:
    """Later work and the rows that belong to it."""

    subject: str
    why: str
    rows: tuple[str, ...]


def read_rows(text: str) -> dict[str, str]:
    """Tier of each row; ValueError for a line that is none, or a row that stands there twice."""
    rows: dict[str, str] = {}
    for line in text.splitlines():
        row, _, tier = line.partition(" ")
        if not re.fullmatch(r"L-[A-Z]+-\d\d", row) or tier not in TIERS or row in rows:
            raise ValueError(f"rows.txt: not a new row and its tier: {line!r}")
        rows[row] = tier
    return rows


def read_later(text: str) -> list[Left]:
    """What is left, in the order of the file."""
    tables = tomllib.loads(text).get("later", [])
    return [Left(each["subject"], each["why"], tuple(each["rows"])) for each in tables]


def proofs(items: Iterable[pytest.Item]) -> dict[str, set[str]]:
    """Test functions by the row that they prove; the parameters of one function are one test."""
    found: dict[str, set[str]] = {}
    for item in items:
        if runs(item):
            for mark in item.iter_markers("req"):
                for row in mark.args:
                    found.setdefault(row, set()).add(item.nodeid.partition("[")[0])
    return found


def runs(item: pytest.Item) -> bool:
    """Whether the marks of a test let it run, and fail, on this machine."""
    if item.get_closest_marker("skip") or item.get_closest_marker("xfail"):
        return False
    return not any(True in mark.args for mark in item.iter_markers("skipif"))


def faults(
    rows: Mapping[str, str], later: Sequence[Left], found: Mapping[str, set[str]]
) -> list[str]:
    """Why the lists are not true, one line each; empty when they are."""
    lines = [
        f"{row} is no row of the checklist; {min(tests)} carries it"
        for row, tests in sorted(found.items())
        if row not in rows
    ]
    listed = [row for left in later for row in left.rows]
    for row in sorted(set(listed)):
        if row not in rows:
            lines.append(f"{row} is no row of the checklist; later.toml lists it")
        elif row in found:
            lines.append(f"{row} is covered meanwhile: take it out of later.toml")
        if listed.count(row) > 1:
            lines.append(f"{row} stands in later.toml more than once")
    for row, tier in rows.items():
        if row not in found and row not in listed and not may_wait(row, tier):
            lines.append(f"{row} ({tier}) has no test and is not in later.toml")
    return lines


def may_wait(row: str, tier: str) -> bool:
    """Whether an uncovered row that is not listed as left is only printed."""
    return tier == "should" and row.split("-")[1] not in CORE_AREAS


def table(
    rows: Mapping[str, str], later: Sequence[Left], found: Mapping[str, set[str]]
) -> list[str]:
    """One line for each row, then how many there are of each kind in each tier."""
    subjects = {row: left.subject for left in later for row in left.rows}
    states = {
        row: "covered" if row in found else "left" if row in subjects else "uncovered"
        for row in rows
    }
    lines = []
    for row, state in states.items():
        tests = len(found.get(row, ()))
        detail = {"covered": f"{tests} test{'s' * (tests != 1)}", "left": subjects.get(row, "")}
        lines.append(f"{row:<10} {rows[row]:<6} {state:<9} {detail.get(state, '')}".rstrip())
    for tier in TIERS:
        counts = [
            f"{sum(states[row] == state for row in rows if rows[row] == tier)} {state}"
            for state in ("covered", "uncovered", "left")
        ]
        lines.append(f"{tier}: {', '.join(counts)}")
    return lines


class Collected:
    """A pytest plugin that keeps what was collected."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items


def collect(root: Path, *folders: str) -> list[pytest.Item]:
    """Every test in these folders; ends the program where one cannot be collected."""
    collected, said = Collected(), io.StringIO()
    options = ["--collect-only", "-q", "-p", "no:cacheprovider", "--rootdir", str(root)]
    with contextlib.redirect_stdout(said):
        status = pytest.main([*options, *(str(root / each) for each in folders)], [collected])
    if status != pytest.ExitCode.OK:
        sys.exit(said.getvalue() + "the tests cannot be collected")
    return collected.items


def main() -> int:
    """Print the table and every fault; 1 if there is one."""
    rows = read_rows((HERE / "rows.txt").read_text())
    later = read_later((HERE / "later.toml").read_text())
    found = proofs(collect(ROOT, "tests", "plugins"))
    print(*table(rows, later, found), sep="\n")
    lines = faults(rows, later, found)
    print(*lines, sep="\n", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
