"""Where requests go: the address and the key, from the config's ``providers[]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from localdb_core.domain import InvalidConfig
from localdb_core.plugin import ProviderSettings, Secret

DEFAULT_URL = "https://api.openai.com"
_PATH = "/v1/embeddings"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One service.

    Attributes:
        label: how messages call it; holds no secret.
        key: a reference, read for every request, so a new key counts at once.
    """

    secure: bool
    host: str
    port: int | None
    path: str
    label: str
    key: Secret | None

    @classmethod
    def of(cls, provider: ProviderSettings | None) -> Self:
        """The service of a ``providers[]`` entry. Raises InvalidConfig."""
        if provider is None:
            raise InvalidConfig(
                "http-embedder needs an entry in providers[]; write "
                "{name: NAME, kind: http-embedder, base_url: URL} there"
            )
        url = provider.base_url or DEFAULT_URL
        where = f"base_url of the provider {provider.name}"
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise InvalidConfig(f"{where} is no address: {error}") from error
        if parts.username is not None or parts.password is not None:
            raise InvalidConfig(f"{where} holds a name or password; use api_key_env")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidConfig(f"{where} must begin with http:// or https:// and name a host")
        if parts.query or parts.fragment or any(c <= " " or c > "~" for c in url):
            raise InvalidConfig(f"{where} takes a plain address, without '?', '#' or spaces")
        base = parts.path.rstrip("/").removesuffix("/v1")
        return cls(
            secure=parts.scheme == "https",
            host=parts.hostname,
            port=port,
            path=base + _PATH,
            label=f"{parts.scheme}://{parts.netloc}{base}{_PATH}",
            key=provider.api_key,
        )

    @property
    def exposes_key(self) -> bool:
        """Whether a key would leave this computer in the clear."""
        here = ("localhost", "127.0.0.1", "::1")
        return self.key is not None and not self.secure and self.host not in here

    def secret(self) -> str | None:
        """The key's value. Raises InvalidConfig, which never repeats it."""
        if self.key is None:
            return None
        value = self.key.get_secret_value().strip()
        if not (value.isascii() and value.isprintable()):
            raise InvalidConfig(f"the key in {self.key.name} has characters that no key has")
        return value
