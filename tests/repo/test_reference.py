"""The reference in ``docs/reference`` is what the code says, and leaves nothing out."""

import re
import sys
from pathlib import Path

import pytest

from localdb_core import domain, plugin

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
try:
    from generate import cli, config, errors, hooks, pages
finally:
    sys.path.remove(str(DOCS))

REFERENCE = DOCS / "reference"
COMMAND = "python docs/generate"


def sections(page):
    """What the page has headings for."""
    return set(re.findall(r"^##+ (.+)$", (REFERENCE / page).read_text(), flags=re.MULTILINE))


@pytest.mark.parametrize(("name", "text"), pages.pages().items(), ids=list(pages.pages()))
def test_a_committed_page_is_the_generated_one_byte_for_byte(name, text):
    path = REFERENCE / name

    assert path.read_bytes() == text.encode(), f"docs/reference/{name} is old; run: {COMMAND}"


def test_every_hook_and_every_public_name_has_a_section():
    assert set(hooks.hook_names()) <= sections("hooks.md")
    assert set(plugin.__all__) <= sections("plugin-api.md")


def test_what_a_plugin_takes_and_gives_has_a_section_and_errors_have_theirs():
    told = sections("domain.md")

    errors_told = (REFERENCE / "errors.md").read_text()

    assert {"Block.heading", "Block.text_run", "Metadata"} <= told
    untold = set(domain.__all__) - told
    assert [name for name in sorted(untold) if f"`{name}`" not in errors_told] == ["LocaldbError"]


def test_every_hook_is_told_of_in_a_how_to_page():
    told = "".join(path.read_text() for path in (DOCS / "how-to").glob("write-*.md"))

    assert [name for name in hooks.hook_names() if name not in told] == []


def test_every_config_key_has_a_row():
    rows = set(re.findall(r"^\| `([^`]+)` ", (REFERENCE / "config.md").read_text(), re.MULTILINE))
    every = {key for key, _ in config.every_key()}

    inner = {key for key in every if any(k.startswith((f"{key}.", f"{key}[]")) for k in every)}
    assert every - inner == rows
    assert len(rows) > 25


def test_every_command_and_every_error_code_has_a_section():
    assert {f"localdb {words}" for words, _ in cli.commands()} <= sections("cli.md")
    assert set(errors.codes()) <= sections("errors.md")


def test_every_description_of_a_plugin_is_explained():
    """A field of a hook's description that nothing is said about is of no use to an author."""
    silent = re.findall(r"^\| `(\w+)` .*\| +\|$", (REFERENCE / "hooks.md").read_text(), re.M)

    assert silent == []


def test_the_index_of_decisions_leaves_none_out():
    listed = re.findall(r"\(adr/([\w-]+\.md)\)", (DOCS / "index.md").read_text())

    assert sorted(listed) == sorted(path.name for path in (DOCS / "adr").glob("*.md"))
