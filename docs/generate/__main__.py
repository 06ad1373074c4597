"""Write the pages of ``docs/reference`` that are made from the code: ``python docs/generate``.

The pages are committed; a test compares them byte for byte.
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]

if __name__ == "__main__":
    sys.path.insert(0, str(DOCS))
    from generate.pages import pages

    for name, text in pages().items():
        (DOCS / "reference" / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"docs/reference/{name}")  # noqa: T201 - for the reader
