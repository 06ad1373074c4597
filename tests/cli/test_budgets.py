"""What each command imports, counted in modules and never in milliseconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIRST_PARTY = ("chroma", "whoosh", "onnx", "pdf", "epub", "html", "office")
PARSER_LIBRARIES = {
    "pypdf",
    "ebooklib",
    "markdownify",
    "trafilatura",
    "bs4",
    "docx",
    "pptx",
    "openpyxl",
    "markdown_it",
    "localdb_core.builtin.markdown",
    "localdb_core.builtin.plaintext",
}
ENGINES = {"chromadb", "whoosh", "onnxruntime", "tokenizers"}

CHILD = """
import sys
from localdb_core.cli.main import run

listing, sys.argv = sys.argv[1], ["localdb", *sys.argv[2:]]
try:
    run()
finally:
    with open(listing, "w") as file:
        file.write("\\n".join(sys.modules))
"""


def modules_of(folder: Path, *arguments: str, stdin: str = "") -> set[str]:
    """The modules a command has imported when it ends."""
    listing = folder / "modules.txt"
    environ = dict(os.environ)
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        environ[f"XDG_{name}_HOME"] = str(folder / name.lower())
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, str(listing), *arguments],
        env=environ,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return set(listing.read_text().split("\n"))


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules} | modules


def plugin_modules(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith(tuple(f"localdb_{p}" for p in FIRST_PARTY))}


def test_the_version_imports_no_plugin_and_nothing_heavy(tmp_path: Path) -> None:
    found = modules_of(tmp_path, "--version")

    assert plugin_modules(found) == set()
    assert (
        packages(found) & {"pydantic", "yaml", "rich", "numpy", "mcp", "pluggy", "sqlite3"} == set()
    )


def test_listing_plugins_without_loading_imports_none(tmp_path: Path) -> None:
    found = modules_of(tmp_path, "plugin", "list", "--no-load")

    assert plugin_modules(found) == set()
    assert packages(found) & ({"numpy", "mcp"} | ENGINES | PARSER_LIBRARIES) == set()


def test_listing_plugins_imports_light_modules_only(tmp_path: Path) -> None:
    found = modules_of(tmp_path, "plugin", "list")

    heavy = {name for name in plugin_modules(found) if name.count(".") and ".plugin" not in name}
    assert heavy == set()
    assert packages(found) & ({"numpy", "mcp"} | ENGINES | PARSER_LIBRARIES) == set()


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_search_imports_no_parser_and_no_mcp_sdk(tmp_path: Path, mode: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Herons\n\nHerons stand still.\n")
    modules_of(tmp_path, "add", str(notes))

    found = modules_of(tmp_path, "search", "--mode", mode, "herons")

    assert packages(found) & ({"mcp"} | PARSER_LIBRARIES) == set()
    if mode == "keyword":  # Chroma, where it answers, brings rich by itself
        assert packages(found) & {"onnxruntime", "chromadb", "numpy", "rich"} == set()


def test_mcp_imports_no_parser_and_no_engine_before_a_tool_needs_it(tmp_path: Path) -> None:
    found = modules_of(tmp_path, "mcp", stdin="")

    assert packages(found) & (ENGINES | PARSER_LIBRARIES) == set()


def test_commands_about_stores_load_no_plugin(tmp_path: Path) -> None:
    found = modules_of(tmp_path, "store", "list")

    assert plugin_modules(found) == set()
    assert "pluggy" not in found or "localdb_core.builtin.plugin" not in found
