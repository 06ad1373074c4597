"""What import-linter cannot say: which libraries the innermost layers may use."""

import ast
import sys
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "localdb_core"


def imported(package):
    """Top-level names that the modules of a package import, wherever in the module."""
    for path in sorted((CORE / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize(
    ("package", "libraries"),
    [
        ("domain", {"blake3"}),
        ("plugin", {"numpy", "pluggy"}),  # numpy for type checkers only, says import-linter
        ("host", {"importlib_metadata", "numpy", "packaging", "pluggy", "pydantic"}),
    ],
)
def test_inner_layers_use_few_libraries(package, libraries):
    outside = set(imported(package)) - sys.stdlib_module_names - {"localdb_core"}

    assert outside <= libraries


def test_a_module_is_at_most_400_lines_long():
    root = CORE.parent
    files = [
        *CORE.rglob("*.py"),
        *root.glob("plugins/*/src/**/*.py"),
        *root.glob("examples/**/*.py"),
    ]

    long = {p.relative_to(root): n for p in files if (n := len(p.read_text().splitlines())) > 400}

    assert not long
