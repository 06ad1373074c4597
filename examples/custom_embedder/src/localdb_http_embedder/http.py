"""One request and its repetition, on the standard library's client."""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import itertools
import json
import random
import ssl
import threading
import time
from typing import Final

from localdb_core.domain import LocaldbError, ProviderUnavailable, RateLimited
from localdb_http_embedder.endpoint import Endpoint

LONGEST_PAUSE: Final = 30.0
"""Seconds that may pass between attempts in all; a service that asks for more is given up."""

_LONGEST_ASKED: Final = 120.0
_PIECE: Final = 64 * 1024
_SAID: Final = 200


class _Refused(Exception):
    """One attempt failed.

    Attributes:
        again: whether another attempt may help.
        wait: seconds that the service asks for.
    """

    def __init__(
        self,
        what: str,
        *,
        kind: type[LocaldbError] = ProviderUnavailable,
        again: bool = False,
        wait: float | None = None,
    ) -> None:
        super().__init__(what)
        self.kind = kind
        self.again = again
        self.wait = wait


class Client:
    """Posts JSON. Any number of threads may use it: each request has a connection of its own.

    It follows no redirect, since the key is meant for one host only.
    """

    def __init__(self, endpoint: Endpoint, *, timeout: float, retries: int) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._retries = retries
        self._closed = threading.Event()
        self._tls = ssl.create_default_context() if endpoint.secure else None

    def post(self, body: bytes, *, limit: int) -> bytes:
        """The body of a good answer, of ``limit`` bytes at most.

        Raises:
            RateLimited: 429 until the end.
            ProviderUnavailable: any other refusal, no answer, or too long a one.
            InvalidConfig: the key cannot be read.
        """
        left = LONGEST_PAUSE
        for attempt in itertools.count():
            try:
                return self._attempt(body, limit)
            except _Refused as refused:
                usual = min(2.0**attempt * random.uniform(1, 1.5), LONGEST_PAUSE)
                pause = usual if refused.wait is None else refused.wait
                worth = refused.again and attempt < self._retries and pause <= left
                if not worth or self.pause(pause):
                    tried = f" ({attempt + 1} attempts)" if attempt else ""
                    said = f"{self._endpoint.label}: {refused}{tried}"
                    raise refused.kind(said) from refused.__cause__
                left -= pause
        raise AssertionError("the last attempt returns or raises")

    def pause(self, seconds: float) -> bool:
        """Wait; whether the embedder was closed meanwhile."""
        return self._closed.wait(seconds)

    def close(self) -> None:
        """Let nobody wait any longer."""
        self._closed.set()

    def _attempt(self, body: bytes, limit: int) -> bytes:
        key = self._endpoint.secret()
        connection = self._connection()
        try:
            connection.request("POST", self._endpoint.path, body, _headers(key))
            # Closed by us: once it is last on its connection, the socket is the answer's own.
            with contextlib.closing(connection.getresponse()) as response:
                raw = self._read(response, limit)
        except ssl.SSLCertVerificationError as error:
            raise _Refused(f"its certificate is not trusted: {error.verify_message}") from error
        except TimeoutError as error:
            raise _Refused(f"no whole answer within {self._timeout:g} s", again=True) from error
        except (OSError, http.client.HTTPException) as error:
            what = f"{type(error).__name__}: {_shown(str(error), key)}"
            raise _Refused(what, again=True) from error
        finally:
            connection.close()
        if 200 <= response.status < 300:
            return raw
        raise self._refusal(response, raw, key)

    def _connection(self) -> http.client.HTTPConnection:
        where = self._endpoint
        if self._tls is None:
            return http.client.HTTPConnection(where.host, where.port, timeout=self._timeout)
        return http.client.HTTPSConnection(
            where.host, where.port, timeout=self._timeout, context=self._tls
        )

    def _read(self, response: http.client.HTTPResponse, limit: int) -> bytes:
        """The whole body. A service that sends a byte now and then does not get round the time."""
        ends = time.monotonic() + self._timeout
        pieces: list[bytes] = []
        size = 0
        while piece := response.read1(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise _Refused(f"the answer is longer than {limit} bytes")
            if time.monotonic() > ends:
                raise TimeoutError
        if response.length:  # what was announced and did not come
            raise http.client.IncompleteRead(b"", response.length)
        return b"".join(pieces)

    def _refusal(self, response: http.client.HTTPResponse, raw: bytes, key: str | None) -> _Refused:
        status = response.status
        said = f"HTTP {status}: {_shown(_message(raw), key)}".rstrip(": ")
        if status == 429:
            return _Refused(said, kind=RateLimited, again=True, wait=_wait(response))
        if status == 408 or status >= 500:
            return _Refused(said, again=True, wait=_wait(response))
        if status in (401, 403):
            named = self._endpoint.key
            held = f"check the key in {named.name}" if named else "give providers[] an api_key_env"
            return _Refused(f"{said}; {held}")
        if 300 <= status < 400:
            there = _shown(response.headers.get("Location", "elsewhere"), key)
            return _Refused(f"HTTP {status}: it is at {there}; write that as base_url")
        return _Refused(f"{said}; check base_url and the model's name")


def _headers(key: str | None) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    return headers | ({"Authorization": f"Bearer {key}"} if key else {})


def _wait(response: http.client.HTTPResponse) -> float | None:
    """``Retry-After``: seconds, or a date; None when there is none that makes sense."""
    written = (response.headers.get("Retry-After") or "").strip()
    if written.isascii() and written.isdigit():
        # Longer numbers are no times, and very long ones no number for Python.
        return min(float(written[:9]), _LONGEST_ASKED)
    try:
        until = email.utils.parsedate_to_datetime(written).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(until - time.time(), 0.0), _LONGEST_ASKED)


def _message(raw: bytes) -> str:
    """What the service says went wrong: ``error.message``, as most do, or the body."""
    text = raw[: 16 * 1024].decode("utf-8", "replace")
    try:
        found = json.loads(text)["error"]
        text = str(found["message"] if isinstance(found, dict) else found)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return text


def _shown(text: str, key: str | None) -> str:
    """On one line, short, without the key: services repeat it in their complaints."""
    hidden = text.replace(key, "***") if key else text
    line = " ".join(hidden.split())
    return "".join(char if char.isprintable() else "\ufffd" for char in line)[:_SAID]
