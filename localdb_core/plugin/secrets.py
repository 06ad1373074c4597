"""Secrets that the config names and never holds (L-INV-09)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self

from localdb_core.domain.errors import InvalidConfig
from localdb_core.domain.smallfile import read_small_file

SECRET_LIMIT: Final = 64 * 1024
"""Bytes of a secret's file; a key or a token has a few hundred."""

_FORMS: Final = "write {env: NAME} or {file: PATH}; a secret itself never stands in the config"

_SCHEMA: Final[dict[str, Any]] = {  # Any: JSON values
    "description": "A secret, by reference.",
    "oneOf": [
        {
            "type": "object",
            "properties": {key: {"type": "string", "minLength": 1}},
            "required": [key],
            "additionalProperties": False,
        }
        for key in ("env", "file")
    ],
    "writeOnly": True,
}


@dataclass(frozen=True, slots=True)
class Secret:
    """A password, token or key: where it is, not what it is.

    class Settings(BaseModel):
        model_config = ConfigDict(extra="forbid")
        token: Secret | None = None

    plugins.config.acme.token: {env: ACME_TOKEN}     # or {file: /run/secrets/acme}
    context.config.token.get_secret_value()

    The object holds the reference alone, so printing, logging, pickling or dumping it
    gives nothing away. When settings are made, the secret is read once, to report one
    that is not there; after that each call reads it again, so a changed file counts.

    Attributes:
        kind: what ``name`` is the name of.
        place: the config key of the reference, for messages.
    """

    kind: Literal["env", "file"]
    name: str
    place: str = ""

    def get_secret_value(self) -> str:
        """The secret. Raises InvalidConfig, which names the key and the variable or file."""
        try:
            return _variable(self.name) if self.kind == "env" else _content(self.name)
        except ValueError as error:
            raise InvalidConfig(f"{self.place}: {error}" if self.place else str(error)) from None

    @classmethod
    def parse(cls, written: object) -> Self:
        """From ``{env: NAME}`` or ``{file: PATH}``, once it is there to be read.

        Raises ValueError, which never repeats what was written in place of a reference.
        """
        if isinstance(written, cls):
            return written
        if not isinstance(written, Mapping) or len(written) != 1:
            raise ValueError(_FORMS)
        kind, name = next(iter(written.items()))
        if kind not in ("env", "file") or not isinstance(name, str) or not name:
            raise ValueError(_FORMS)
        secret = cls(kind, name)
        _variable(name) if kind == "env" else _content(name)
        return secret

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> Mapping[str, object]:
        # The plain form of pydantic's core schema, so that this module needs no pydantic.
        return {
            "type": "function-plain",
            "function": {"type": "no-info", "function": cls.parse},
            "serialization": {
                "type": "function-plain",
                "function": lambda secret: {secret.kind: secret.name},
            },
        }

    @classmethod
    def __get_pydantic_json_schema__(cls, *_: object) -> Mapping[str, object]:
        return dict(_SCHEMA)


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise ValueError(f"the environment variable {name} is not set")
    if not value.strip():
        raise ValueError(f"the environment variable {name} is empty")
    return value


def _content(name: str) -> str:
    try:
        path = Path(name).expanduser()
    except RuntimeError as error:
        raise ValueError(f"cannot expand {name}: {error}") from None
    if not path.is_absolute():
        raise ValueError(f"write the whole path of the file {name}, or begin it with ~/")
    try:
        raw = read_small_file(path, limit=SECRET_LIMIT, private=True)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"the file {name} cannot be read: {reason}") from None
    try:
        text = raw.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError(f"the file {name} is not UTF-8 text") from None
    if "\0" in text:
        raise ValueError(f"the file {name} is binary, not text")
    if not text.strip():
        raise ValueError(f"the file {name} is empty")
    return text
