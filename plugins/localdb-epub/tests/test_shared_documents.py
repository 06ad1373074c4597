"""Real books, against the manifest that says what each should give."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from localdb_epub.parser import build

from localdb_core.domain import LocaldbError
from localdb_core.plugin import Declined, Document, PluginContext, Probe, no_progress
from localdb_core.testing.parser import text_of

FLOOR = 28  # fragments found, as measured
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|[|`]")


def outcome(path: Path) -> Document | Declined | LocaldbError:
    with path.open("rb") as stream:
        probe = Probe(path.name, head=stream.read(8192))
    try:
        return build(PluginContext(plugin="epub")).parse(path, probe, no_progress)
    except LocaldbError as error:
        return error


def squeeze(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text)
    return "".join(c for c in folded if not c.isspace() and unicodedata.category(c) != "Cf")


@pytest.mark.slow
def test_every_book_ends_in_an_answer_and_every_fragment_is_found(shared_documents):
    documents = json.loads((shared_documents / "manifest.json").read_text())["documents"]
    found, wrong = 0, []
    for entry in documents:
        if not entry["file"].startswith("epub/"):
            continue
        expect = entry["expect"]
        result = outcome(shared_documents / entry["file"])
        accepted = {expect["outcome"], *expect.get("also_acceptable", ())}
        is_read = isinstance(result, Document)
        if (accepted == {"ok"} and not is_read) or (is_read and "ok" not in accepted):
            wrong.append((entry["file"], result))
        elif isinstance(result, Document) and "fragment" in expect:
            text = _MARKUP.sub(lambda m: m[1] or "", text_of(result))
            found += squeeze(expect["fragment"]) in squeeze(text)

    assert wrong == []
    assert found >= FLOOR
