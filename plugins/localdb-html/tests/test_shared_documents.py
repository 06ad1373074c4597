"""Real pages of the shared document set, where it is at hand."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from localdb_core.plugin import Document, no_progress
from localdb_core.testing.parser import build_parser, find_parser_spec, probe_of

KINDS = ("html",)
_MARKS = re.compile(r"[\s\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.)*)\]\((?:<[^>]*>|[^()\s]*)\)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def bare(markdown: str) -> str:
    """Text alone: links, escapes, emphasis, cell walls and white space taken out."""
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", markdown))
    text = re.sub(r"[|*_`-]", "", _ESCAPE.sub(r"\1", text))
    return _MARKS.sub("", unicodedata.normalize("NFKC", text))


@pytest.mark.req("L-PAR-13")
def test_every_page_gives_its_fragment(shared_documents: Path) -> None:
    manifest = json.loads((shared_documents / "manifest.json").read_text("utf-8"))
    entries = [e for e in manifest["documents"] if e["file"].split("/")[0] in KINDS]
    parser = build_parser("html/html", find_parser_spec("html/html"))
    missing = []

    for entry in entries:
        path = shared_documents / entry["file"]
        result = parser.parse(path, probe_of(path.name, path.read_bytes()), no_progress)
        assert isinstance(result, Document), f"{path.name}: {result}"
        if bare(entry["expect"]["fragment"]) not in bare(result.markdown or ""):
            missing.append(path.name)

    assert missing == []
