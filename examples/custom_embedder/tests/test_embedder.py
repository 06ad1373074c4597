"""The embedder against a real server on a real socket, in all that a server may do wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from localdb_http_embedder.config import HttpEmbedderConfig
from localdb_http_embedder.embedder import HttpEmbedder
from localdb_http_embedder.http import Client

from localdb_core.domain import InvalidConfig, LocaldbError, ProviderUnavailable, RateLimited
from localdb_core.plugin import EmbedderContext, ProviderSettings, Secret
from localdb_core.testing.embedder import EmbedderContract
from localdb_core.testing.memory import FakeEmbedder
from localdb_core.testing.plugin import PluginContract

FAKE = FakeEmbedder()
KEY = "sk-very-secret-0123456789"
SETTINGS = {"dimension": FAKE.card.dimension, "max_tokens": 100, "batch": 4}

Answer = Callable[["Handler", list[str]], None]


class Service(ThreadingHTTPServer):
    """``/v1/embeddings`` on a port of this computer; ``answers`` come before the right ones."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.asked: list[list[str]] = []
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Service

    def do_POST(self) -> None:
        """The next answer that a test prepared, else the vectors."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body["input"])
        self.server.headers.append(dict(self.headers))
        if self.path != "/v1/embeddings":
            self.reply(404, {"error": {"message": f"nothing at {self.path}"}})
        elif self.server.answers:
            self.server.answers.pop(0)(self, body["input"])
        else:
            self.reply(200, {"data": items(body["input"])})

    def reply(self, status: int, body: Any, **headers: str) -> None:  # Any: a JSON value, or bytes
        """An answer with a length; ``_`` in a header's name stands for ``-``."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in ({"Content_Length": str(len(raw))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""


def items(texts: list[str]) -> list[dict[str, Any]]:
    """The right ``data``, in an order of its own."""
    rows = FAKE.embed(texts, "passage") * 3
    return [{"index": n, "embedding": row.tolist()} for n, row in enumerate(rows)][::-1]


def says(status: int, body: Any = b"", **headers: str) -> Answer:  # Any: as in Handler.reply
    """An answer that does not depend on the texts."""
    return lambda handler, texts: handler.reply(status, body, **headers)


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    """One server for this module."""
    with Service() as service:
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield service
        service.released.set()
        service.shutdown()
        thread.join()


@pytest.fixture
def service(running: Service) -> Service:
    """The server without the past of other tests."""
    for past in (running.answers, running.asked, running.headers):
        past.clear()
    return running


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the embedder would have waited; it does not."""
    waited: list[float] = []
    monkeypatch.setattr(Client, "pause", lambda self, seconds: waited.append(seconds))
    return waited


def build(url: str | None, *, key: Secret | None = None, **settings: Any) -> HttpEmbedder:
    """An embedder for this address. Any: config values."""
    provider = ProviderSettings("mine", "http-embedder", url, key)
    config = HttpEmbedderConfig.model_validate(SETTINGS | settings)
    return HttpEmbedder(EmbedderContext("http-embedder", config, model="m", provider=provider))


class TestPlugin(PluginContract):
    """The light module, the hooks and the settings."""

    plugin = "http-embedder"


class TestEmbedder(EmbedderContract):
    """Shapes, order, batches, threads, limits; over the socket."""

    component = "http-embedder/http-embedder"
    model = "m"
    settings = SETTINGS

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def provider_of_the_server(cls, running: Service) -> None:
        """Known only once the server listens."""
        cls.provider = ProviderSettings("mine", "http-embedder", running.url)


def test_texts_go_in_batches_and_vectors_come_back_in_order(service: Service) -> None:
    texts = [f"heron number {n}" for n in range(10)]

    vectors = build(service.url).embed(texts, "query")

    assert [len(batch) for batch in service.asked] == [4, 4, 2]
    np.testing.assert_allclose(vectors, FAKE.embed(texts, "query"), atol=1e-6)


def test_prefixes_are_sent_and_counted_and_long_texts_are_cut_between_characters(
    service: Service,
) -> None:
    embedder = build(service.url, query_prefix="q: ", passage_prefix="p: ", max_tokens=3)

    embedder.embed(["ünde über"], "query")
    embedder.embed(["a日本語", ""], "passage")

    assert service.asked == [["q: ünde "], ["p: a日", "p: "]]
    assert embedder.count_tokens(["a日本語", "", "a"]) == [5, 1, 2]
    assert build(service.url).card.fingerprint != embedder.card.fingerprint


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/"])
def test_the_address_may_end_in_v1_or_not(end: str, service: Service) -> None:
    assert len(build(service.url + end).embed(["a"], "query")) == 1


def test_the_key_is_read_for_each_request_and_sent_as_bearer(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = build(service.url, key=Secret("env", "HTTP_EMBEDDER_KEY", "providers[0]"))

    for key in ("first", "second"):
        monkeypatch.setenv("HTTP_EMBEDDER_KEY", key)
        embedder.embed(["a"], "query")
    build(service.url).embed(["a"], "query")

    sent = [headers.get("Authorization") for headers in service.headers]
    assert sent == ["Bearer first", "Bearer second", None]


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", ""])
def test_a_key_that_fits_in_no_header_is_never_repeated(
    key: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_EMBEDDER_KEY", key)

    with pytest.raises(InvalidConfig, match="HTTP_EMBEDDER_KEY") as caught:
        build(service.url, key=Secret("env", "HTTP_EMBEDDER_KEY")).embed(["a"], "query")

    assert not key or key not in str(caught.value)
    assert service.asked == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_named_by_its_variable_only(
    status: int, service: Service, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_EMBEDDER_KEY", KEY)
    service.answers += [says(status, {"error": {"message": f"bad key {KEY}\n\x1b[31m"}})] * 2

    with pytest.raises(ProviderUnavailable, match="check the key in HTTP_EMBEDDER_KEY") as named:
        build(service.url, key=Secret("env", "HTTP_EMBEDDER_KEY")).embed(["a"], "query")
    with pytest.raises(ProviderUnavailable, match="give providers\\[\\] an api_key_env"):
        build(service.url).embed(["a"], "query")

    assert f"HTTP {status}: bad key ***" in str(named.value)
    assert KEY not in str(named.value)
    assert str(named.value).isprintable()
    assert pauses == []


def test_a_busy_service_is_asked_again_after_the_time_it_names(
    service: Service, pauses: list[float]
) -> None:
    past = "Wed, 21 Oct 2015 07:28:00 GMT"
    service.answers += [says(429, Retry_After="7"), says(429, Retry_After=past), says(429)]

    assert len(build(service.url).embed(["a"], "query")) == 1

    assert pauses[:2] == [7, 0]
    assert 4 <= pauses[2] <= 6
    assert len(service.asked) == 4


@pytest.mark.parametrize(
    ("after", "asked"), [("31", 1), ("9" * 5000, 1), ("20", 2), ("soon", 3), ("", 3), ("0", 3)]
)
def test_a_service_that_stays_busy_is_given_up(
    after: str, asked: int, service: Service, pauses: list[float]
) -> None:
    service.answers += [says(429, {"error": "slow down"}, Retry_After=after)] * 9

    with pytest.raises(RateLimited, match="HTTP 429: slow down"):
        build(service.url, retries=2).embed(["a"], "query")

    assert len(service.asked) == asked == len(pauses) + 1
    assert sum(pauses) <= 30


def test_a_broken_service_is_asked_again_and_then_named(
    service: Service, pauses: list[float]
) -> None:
    service.answers += [says(500, b"<h1>oops</h1>"), says(503)]
    assert len(build(service.url).embed(["a"], "query")) == 1

    service.answers += [says(500, b"<h1>oops</h1>")] * 3
    with pytest.raises(ProviderUnavailable, match="HTTP 500: <h1>oops</h1> \\(3 attempts\\)"):
        build(service.url, retries=2).embed(["a"], "query")

    assert len(pauses) == 4


def test_a_service_that_is_not_there_is_asked_again_and_then_named(pauses: list[float]) -> None:
    with Service() as gone:
        url = gone.url

    with pytest.raises(ProviderUnavailable, match=f"{url}/v1/embeddings: ConnectionRefusedError"):
        build(url, retries=1).embed(["a"], "query")

    assert len(pauses) == 1


def hang(handler: Handler, texts: list[str]) -> None:
    """Say nothing until the tests end."""
    handler.server.released.wait(30)


def drip(handler: Handler, texts: list[str]) -> None:
    """Send a byte now and then, for ever."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.released.wait(0.02):
        try:
            handler.wfile.write(b" ")
        except OSError:
            return


def hang_up(handler: Handler, texts: list[str]) -> None:
    """Close the connection without a word."""
    handler.close_connection = True


@pytest.mark.parametrize("answer", [hang, drip])
def test_a_service_that_never_ends_its_answer_is_given_up(
    answer: Answer, service: Service, pauses: list[float]
) -> None:
    service.answers += [answer, answer]

    with pytest.raises(ProviderUnavailable, match="no whole answer within 0.1 s \\(2 attempts\\)"):
        build(service.url, timeout=0.1, retries=1).embed(["a"], "query")


@pytest.mark.parametrize(
    "answer", [hang_up, says(200, b'{"data": [', Content_Length="9999")], ids=["hang-up", "cut"]
)
def test_an_answer_that_is_cut_off_is_asked_for_again(
    answer: Answer, service: Service, pauses: list[float]
) -> None:
    service.answers += [answer]

    assert len(build(service.url).embed(["a"], "query")) == 1
    assert len(pauses) == 1


def one(**change: Any) -> dict[str, Any]:  # Any: JSON values
    """A right answer for one text, with something changed."""
    return {"data": [items(["a"])[0] | change]}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "not JSON"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}]}', "not JSON"),
        ([], "without a list 'data'"),
        ({"data": {"0": []}}, "without a list 'data'"),
        ({"data": []}, "vectors for 0 of 1 texts"),
        ({"data": [None]}, "without 'index'"),
        (one(index=True), "without 'index'"),
        (one(index=-1), "index -1 of 1 texts"),
        ({"data": items(["a"]) * 2}, "comes twice"),
        (one(embedding="AAAA"), "no list of numbers"),
        (one(embedding=["1"] * 64), "no list of numbers"),
        (one(embedding=[0.0] * 64), "without direction"),
        (one(embedding=[10**400] * 64), "beyond all measure"),
        (b" " * 20_000_000, "longer than"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_junk_is_refused_at_once(
    body: Any, said: str, service: Service, pauses: list[float]
) -> None:
    service.answers += [says(200, body)]

    with pytest.raises(ProviderUnavailable, match=said):
        build(service.url).embed(["a"], "query")

    assert pauses == []


def test_half_a_batch_is_refused_whole(service: Service) -> None:
    service.answers += [lambda handler, texts: handler.reply(200, {"data": items(texts)[:2]})]

    with pytest.raises(ProviderUnavailable, match="vectors for 2 of 4 texts"):
        build(service.url).embed(list("abcd"), "passage")


def test_another_dimension_says_what_to_write(service: Service) -> None:
    with pytest.raises(InvalidConfig, match="http-embedder.dimension to 64"):
        build(service.url, dimension=8).embed(["a"], "query")


def test_a_redirect_is_told_and_not_followed(service: Service) -> None:
    service.answers += [says(308, Location="https://elsewhere.example/v1/embeddings")]

    with pytest.raises(ProviderUnavailable, match="it is at https://elsewhere.example/"):
        build(service.url).embed(["a"], "query")

    assert len(service.asked) == 1


def test_what_the_service_finds_wrong_is_told(service: Service, pauses: list[float]) -> None:
    service.answers += [says(400, {"error": {"message": "no model m"}})]

    with pytest.raises(ProviderUnavailable, match="HTTP 400: no model m; check base_url and the"):
        build(service.url).embed(["a"], "query")

    assert pauses == []


def test_closing_ends_the_wait_for_a_busy_service(service: Service, tmp_path: Path) -> None:
    embedder = build(service.url)

    def close(handler: Handler, texts: list[str]) -> None:
        embedder.close()
        handler.reply(429, {}, Retry_After="29")

    service.answers += [close]
    with pytest.raises(LocaldbError, match="HTTP 429"):
        embedder.embed(["a"], "query")
    assert len(service.asked) == 1
