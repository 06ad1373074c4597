"""``examples/third_party_parser``: its own tests, and a reference cited from a search."""

import pytest

from localdb_core.domain import SearchRequest
from localdb_core.testing.app import make_app
from tests.examples.conftest import BUILT_IN, EXAMPLES, load, own_tests

BIBTEX = EXAMPLES / "third_party_parser"

globals().update(own_tests(load(BIBTEX / "tests" / "test_contract.py", "localdb_bibtex_contract")))
globals().update(own_tests(load(BIBTEX / "tests" / "test_parser.py", "localdb_bibtex_tests")))

pytestmark = pytest.mark.usefixtures("site")


def test_a_reference_is_found_by_its_abstract_and_cited_by_its_title(tmp_path):
    from localdb_bibtex import plugin

    with make_app(tmp_path / "app", plugins=[("bibtex", plugin)], config=BUILT_IN) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(BIBTEX / "tests" / "samples"))
        (report,) = app.index([store])
        (hit,) = app.search.search(SearchRequest("colonies beside locks", limit=1)).citations

    assert report.error is None
    assert list(hit.headings) == ["Grey Herons of the Łódź Canals: A “Census”"]
    assert "Müller" in hit.chunk.text
