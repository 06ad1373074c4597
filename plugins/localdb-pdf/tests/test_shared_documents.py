"""Real files, against the manifest that says what each should give."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from localdb_pdf.parser import build

from localdb_core.domain import LocaldbError
from localdb_core.plugin import Declined, Document, PluginContext, Probe, no_progress
from localdb_core.testing.parser import text_of

FLOOR = 40  # fragments found, as measured
SLOW = 100  # pages
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def outcome(path: Path) -> Document | Declined | LocaldbError:
    with path.open("rb") as stream:
        probe = Probe(path.name, head=stream.read(8192))
    try:
        return build(PluginContext(plugin="pdf")).parse(path, probe, no_progress)
    except LocaldbError as error:
        return error


def holds(document: Document, fragment: str) -> bool:
    return squeeze(fragment) in squeeze(_ESCAPE.sub(r"\1", text_of(document)))


def squeeze(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text)
    return "".join(c for c in folded if not c.isspace() and unicodedata.category(c) != "Cf")


def entries(folder: Path, *, slow: bool) -> list[dict]:
    documents = json.loads((folder / "manifest.json").read_text())["documents"]
    own = [entry for entry in documents if entry["file"].startswith("pdf/")]
    return [entry for entry in own if (entry["expect"].get("pages", 0) > SLOW) == slow]


def test_every_file_ends_in_an_answer_and_most_fragments_are_found(shared_documents):
    count: Counter[str] = Counter()
    for entry in entries(shared_documents, slow=False):
        result = outcome(shared_documents / entry["file"])
        fragment = entry["expect"].get("fragment")
        if isinstance(result, Document) and fragment:
            count["found" if holds(result, fragment) else "missing"] += 1

    assert count["found"] >= FLOOR, count


def test_files_that_need_a_password_or_have_no_text_give_no_document(shared_documents):
    # The first opens with an empty password; the second shows one hidden word on each page.
    known = {"pdf/pypdf-enc-r6-user-password.pdf", "pdf/pypdfsamples-imagemagick-images.pdf"}
    closed = {"password_required", "no_text", "unreadable", "empty_file"}

    opened = {
        entry["file"]
        for entry in entries(shared_documents, slow=False)
        if entry["expect"]["outcome"] in closed
        and isinstance(outcome(shared_documents / entry["file"]), Document)
    }

    assert opened == known


@pytest.mark.slow
def test_large_files_are_read_to_the_end(shared_documents):
    for entry in entries(shared_documents, slow=True):
        result = outcome(shared_documents / entry["file"])

        assert isinstance(result, Document), entry["file"]
        assert holds(result, entry["expect"]["fragment"]), entry["file"]
        assert result.metadata.extra["page_count"] == entry["expect"]["pages"]
