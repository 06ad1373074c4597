"""An author who forgot a part of a contract is told, by tests that fail."""

import pytest

pytest_plugins = ["pytester"]

UNFINISHED = """
from localdb_core.testing.index import DenseIndexContract, IndexContract
from localdb_core.testing.memory import MemoryIndex
from localdb_core.testing.source import SourceContract

class TestNoBuild(DenseIndexContract):
    pass

class TestNoLeg(IndexContract):
    def build(self, context):
        return MemoryIndex(context)

class TestNoSource(SourceContract):
    component = "core/path"
    expected = ("a.md",)
"""


def test_a_part_that_is_missing_is_asked_for_by_name(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(UNFINISHED)

    ran = pytester.runpytest("-q", "-p", "no:cacheprovider")

    ran.stdout.fnmatch_lines_random(
        [
            "*write build(): return your index*",
            "*inherit DenseIndexContract or SparseIndexContract*",
            "*write fill(): make items*",
            "*write unavailable(): return a row*",
        ]
    )
