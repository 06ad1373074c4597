"""What the tests of several plugins share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_documents() -> Path:
    """Real documents of other projects, with ``manifest.json``.

    Some carry copyleft or publishers' licences, so they lie outside the repository and
    these tests are skipped where the folder is not; fixtures of our own run everywhere.
    """
    root = Path(__file__).parents[1]
    shared = Path(os.environ.get("LOCALDB_SHARED") or root.parent / "shared")
    folder = shared / "data" / "docs"
    if not (folder / "manifest.json").is_file():
        pytest.skip("the real documents may not be shipped; set LOCALDB_SHARED to their folder")
    return folder
