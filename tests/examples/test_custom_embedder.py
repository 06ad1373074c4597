"""``examples/custom_embedder``: its own tests, and a search by the vectors of a real server."""

import pytest

from localdb_core.domain import SearchRequest
from localdb_core.testing.app import make_app
from tests.examples.conftest import BUILT_IN, DOCUMENTS, EXAMPLES, load, own_tests

EMBEDDER = EXAMPLES / "custom_embedder"

for name in ("test_config", "test_embedder"):
    globals().update(own_tests(load(EMBEDDER / "tests" / f"{name}.py", f"localdb_http_{name}")))

pytestmark = pytest.mark.usefixtures("site")


def configured(url):
    return {
        **BUILT_IN,
        "providers": [{"name": "mine", "kind": "http-embedder", "base_url": url}],
        "plugins": {"config": {"http-embedder": {"dimension": 64}}},
        "defaults": {"indexing": {"embedding": {"provider": "mine", "model": "m"}}},
    }


def test_documents_are_embedded_and_found_by_the_entry_of_the_config(tmp_path, request):
    service = request.getfixturevalue("service")
    from localdb_http_embedder import plugin

    documents = tmp_path / "documents"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, encoding="utf-8")
    plugins = [("http-embedder", plugin)]
    with make_app(tmp_path / "app", plugins=plugins, config=configured(service.url)) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(documents))
        (report,) = app.index([store])
        found = app.search.search(SearchRequest("grey herons nest", mode="dense", limit=1))

    assert report.error is None
    assert found.citations[0].resource.uri.endswith("/birds.txt")
    assert sum(map(len, service.asked)) >= 4
