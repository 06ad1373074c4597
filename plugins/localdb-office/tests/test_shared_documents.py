"""Real files of the shared document set, where it is at hand."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from localdb_core.plugin import Document, no_progress
from localdb_core.testing.parser import build_parser, find_parser_spec, probe_of

KINDS = ("docx", "pptx", "xlsx", "csv")
_MARKS = re.compile(r"[\s\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def bare(markdown: str) -> str:
    """Text alone: escapes, markers, cell walls and white space taken out."""
    text = re.sub(r"[|*_`-]", "", _ESCAPE.sub(r"\1", markdown))
    return _MARKS.sub("", unicodedata.normalize("NFKC", text))


@pytest.mark.req("L-PAR-12")
@pytest.mark.req("L-PAR-16")
@pytest.mark.parametrize("kind", KINDS)
def test_every_document_gives_its_fragment_and_creator(shared_documents: Path, kind: str) -> None:
    manifest = json.loads((shared_documents / "manifest.json").read_text("utf-8"))
    entries = [e for e in manifest["documents"] if e["file"].split("/")[0] == kind]
    parser = build_parser("office/office", find_parser_spec("office/office"))
    faults = []

    for entry in entries:
        path, expected = shared_documents / entry["file"], entry["expect"]
        result = parser.parse(path, probe_of(path.name, path.read_bytes()), no_progress)
        assert isinstance(result, Document), f"{path.name}: {result}"
        text = bare(result.markdown or "")
        if bare(expected.get("fragment", "")) not in text:
            faults.append(f"{path.name}: fragment")
        if (expected["outcome"] == "no_text") == bool(text):
            faults.append(f"{path.name}: {expected['outcome']}")
        creator = expected.get("metadata", {}).get("creator")
        if creator and creator not in result.metadata.creator:
            faults.append(f"{path.name}: creator {result.metadata.creator}")

    assert faults == []
