"""The report about the specification's rows tells the truth."""

from __future__ import annotations

import os
import re
from pathlib import Path

import checklist
import pytest
from checklist import Left

SHARED = Path(os.environ.get("LOCALDB_SHARED") or checklist.ROOT.parent / "shared")

MODULE = """
import pytest

@pytest.mark.req("L-CLI-01", "L-CLI-02")
@pytest.mark.parametrize("n", [1, 2])
def test_many(n): ...

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.req("L-CLI-03"))])
def test_one_parameter(n): ...

@pytest.mark.req("L-CLI-04")
class TestClass:
    def test_inner(self): ...

@pytest.mark.skip(reason="never runs")
@pytest.mark.req("L-CLI-05")
def test_skipped(): ...

@pytest.mark.skipif(True, reason="never runs")
@pytest.mark.req("L-CLI-06")
def test_skipped_here(): ...

@pytest.mark.xfail(reason="known to fail")
@pytest.mark.req("L-CLI-07")
def test_failing(): ...

@pytest.mark.skipif(False, reason="runs")
@pytest.mark.req("L-CLI-08", "L-CLI-08")
def test_not_skipped(): ...
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    markers = "[pytest]\nmarkers = req(id): a row\naddopts = --import-mode=importlib\n"
    (tmp_path / "pytest.ini").write_text(markers)
    return tmp_path


def test_tests_are_counted_by_function_and_only_if_they_run(project: Path) -> None:
    (project / "test_rows.py").write_text(MODULE)

    found = checklist.proofs(checklist.collect(project, "test_rows.py"))

    assert {row: sorted(tests) for row, tests in found.items()} == {
        "L-CLI-01": ["test_rows.py::test_many"],
        "L-CLI-02": ["test_rows.py::test_many"],
        "L-CLI-03": ["test_rows.py::test_one_parameter"],
        "L-CLI-04": ["test_rows.py::TestClass::test_inner"],
        "L-CLI-08": ["test_rows.py::test_not_skipped"],
    }


def test_a_test_file_that_cannot_be_imported_is_no_empty_coverage(project: Path) -> None:
    (project / "test_broken.py").write_text("import no_such_module_of_anybody")

    with pytest.raises(SystemExit, match="no_such_module_of_anybody"):
        checklist.collect(project, "test_broken.py")


@pytest.mark.parametrize(
    ("tier", "later", "found", "fault"),
    [
        ("must", [], {}, "L-CLI-01 (must) has no test and is not in later.toml"),
        ("should", [], {}, "L-CLI-01 (should) has no test and is not in later.toml"),
        ("beyond", [], {}, "L-CLI-01 (beyond) has no test and is not in later.toml"),
        ("must", ["L-CLI-01"], {}, None),
        ("must", [], {"L-CLI-01": {"test"}}, None),
        ("must", ["L-CLI-01"], {"L-CLI-01": {"test"}}, "L-CLI-01 is covered meanwhile"),
        ("must", ["L-CLI-01", "L-CLI-01"], {}, "L-CLI-01 stands in later.toml more than once"),
        ("must", ["L-CLI-01", "L-CLI-99"], {}, "L-CLI-99 is no row of the checklist; later.toml"),
        ("must", ["L-CLI-01"], {"L-CLI-99": {"t"}}, "L-CLI-99 is no row of the checklist; t "),
    ],
)
def test_each_kind_of_fault_is_told(tier, later, found, fault) -> None:
    lines = checklist.faults({"L-CLI-01": tier}, [Left("later", "why", tuple(later))], found)

    assert len(lines) == (fault is not None)
    assert fault is None or lines[0].startswith(fault)


def test_a_should_row_outside_the_core_areas_is_only_printed() -> None:
    rows = {"L-JOB-01": "should"}

    assert checklist.faults(rows, [], {}) == []
    assert checklist.table(rows, [], {})[0] == "L-JOB-01   should uncovered"


def test_every_row_is_printed_with_its_state() -> None:
    rows = {"L-CLI-01": "must", "L-CLI-02": "must", "L-WEB-01": "should"}
    later = [Left("web pages and feeds", "why", ("L-WEB-01",))]

    assert checklist.table(rows, later, {"L-CLI-01": {"a", "b"}}) == [
        "L-CLI-01   must   covered   2 tests",
        "L-CLI-02   must   uncovered",
        "L-WEB-01   should left      web pages and feeds",
        "must: 1 covered, 1 uncovered, 0 left",
        "should: 0 covered, 0 uncovered, 1 left",
        "beyond: 0 covered, 0 uncovered, 0 left",
    ]


@pytest.mark.parametrize("line", ["L-CLI-1 must", "L-CLI-01 maybe", "L-CLI-01", ""])
def test_a_line_that_is_no_row_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a new row"):
        checklist.read_rows(f"L-CLI-02 must\n{line}\n")


def test_every_left_row_says_why() -> None:
    later = checklist.read_later((checklist.HERE / "later.toml").read_text())

    assert all(left.subject and left.why and left.rows for left in later)


def test_our_rows_and_tiers_are_those_of_the_specification() -> None:
    specification = SHARED / "spec" / "localdb.md"
    if not specification.is_file():
        pytest.skip("the specification is not here; set LOCALDB_SHARED to the folder that has it")
    tiers = {tier[0].upper(): tier for tier in checklist.TIERS}
    table = re.findall(r"^\| (L-[A-Z]+-\d\d) \| ([MSB]) \|", specification.read_text(), re.M)

    rows = checklist.read_rows((checklist.HERE / "rows.txt").read_text())
    assert rows == {row: tiers[tier] for row, tier in table}
