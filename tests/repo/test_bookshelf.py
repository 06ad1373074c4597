"""The example documents are what their scripts say, and small."""

import subprocess
import sys
from pathlib import Path

SHELF = Path(__file__).parents[2] / "examples" / "bookshelf"


def test_the_binary_documents_are_what_the_script_writes(tmp_path):
    subprocess.run([sys.executable, str(SHELF / "make.py"), str(tmp_path)], check=True)

    written = sorted(tmp_path.iterdir())
    assert [path.suffix for path in written] == [".epub", ".docx", ".xlsx", ".pdf", ".pptx"]
    for path in written:
        assert path.read_bytes() == (SHELF / "documents" / path.name).read_bytes(), path.name


def test_every_document_is_small():
    sizes = {path.name: path.stat().st_size for path in (SHELF / "documents").iterdir()}

    assert len(sizes) == 12
    assert max(sizes.values()) < 30_000, sizes
