import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the tests' own epub_files module


@pytest.fixture(scope="session")
def shared_documents() -> Path:
    root = Path(__file__).parents[3]
    shared = Path(os.environ.get("LOCALDB_SHARED") or root.parent / "shared")
    folder = shared / "data" / "docs"
    if not (folder / "manifest.json").is_file():
        pytest.skip("needs the shared document set; set LOCALDB_SHARED to its folder")
    return folder
