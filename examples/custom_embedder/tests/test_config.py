"""What the config says, before anything is sent."""

from __future__ import annotations

import logging

import pytest
from localdb_http_embedder.config import HttpEmbedderConfig
from localdb_http_embedder.embedder import HttpEmbedder

from localdb_core.domain import InvalidConfig
from localdb_core.plugin import EmbedderContext, ProviderSettings, Secret


def build(url: str, *, key: Secret | None = None) -> HttpEmbedder:
    """An embedder for this address."""
    provider = ProviderSettings("mine", "http-embedder", url, key)
    config = HttpEmbedderConfig()
    return HttpEmbedder(EmbedderContext("http-embedder", config, model="m", provider=provider))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://a.example", "http:// or https://"),
        ("localhost:8080", "http:// or https://"),
        ("https://", "http:// or https://"),
        ("https://a.example:http", "is no address"),
        ("https://[::1", "is no address"),
        ("https://me:hunter2@a.example", "holds a name or password"),
        ("https://a.example/v1?key=hunter2", "plain address"),
        ("https://a.example/\r\nX: y", "plain address"),
        ("https://a.example/a b", "plain address"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_when_it_is_read(url: str, said: str) -> None:
    with pytest.raises(InvalidConfig, match=said) as caught:
        build(url)

    assert "hunter2" not in str(caught.value)


def test_without_a_provider_or_a_model_it_says_what_to_write() -> None:
    config = HttpEmbedderConfig()

    with pytest.raises(InvalidConfig, match="an entry in providers"):
        HttpEmbedder(EmbedderContext("http-embedder", config, model="m"))
    with pytest.raises(InvalidConfig, match="embedding.model"):
        HttpEmbedder(EmbedderContext("http-embedder", config))


def test_a_key_in_the_clear_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    key = Secret("env", "HTTP_EMBEDDER_KEY")

    with caplog.at_level(logging.WARNING):
        build("http://a.example", key=key)
        build("https://a.example", key=key)
        build("http://localhost:1", key=key)

    assert [record.getMessage() for record in caplog.records] == [
        "a.example gets the key unencrypted; use https"
    ]
