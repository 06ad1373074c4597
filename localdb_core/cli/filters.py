"""The options of ``search`` that narrow what may be found."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from localdb_core.cli import sourceargs
from localdb_core.cli.state import State
from localdb_core.domain.clock import utc_text
from localdb_core.domain.metadata import REPEATED, SCALAR
from localdb_core.domain.query import Filters
from localdb_core.domain.store import Store
from localdb_core.domain.uri import file_uri

F = TypeVar("F", bound=Callable[..., object])

_MIME: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# What the standard library takes beyond this differs between versions of Python.
_MOMENT: Final = re.compile(
    rf"{_DAY.pattern}([T ]\d{{2}}:\d{{2}}(:\d{{2}}(\.\d{{1,6}})?)?(Z|[+-]\d{{2}}:\d{{2}})?)?",
    re.ASCII,
)


def options(command: F) -> F:
    """Give a command the options; their values go to :func:`chosen` as they are."""
    for option in (
        click.option("--source", metavar="ID", help="Only documents of this source."),
        click.option("--type", "mime", metavar="MIME", help="Only this type, as text/markdown."),
        click.option(
            "--under",
            metavar="PATH",
            help="Only documents in this folder, or whose URI begins like this.",
        ),
        click.option(
            "--after", metavar="DATE", help="Only what changed on this day (UTC) or later."
        ),
        click.option(
            "--before", metavar="DATE", help="Only what changed on this day (UTC) or earlier."
        ),
        click.option(
            "--meta",
            multiple=True,
            metavar="NAME=VALUE",
            help="Only documents with this metadata, as creator=Ann; may be repeated.",
        ),
    ):
        command = option(command)
    return command


def chosen(state: State, stores: Sequence[Store], given: Mapping[str, Any]) -> Filters:
    """What the options say. Raises UsageError for a value that means nothing, SourceNotFound."""
    # Any: option values
    after = _moment("--after", given["after"], last=False)
    before = _moment("--before", given["before"], last=True)
    if after and before and after > before:
        raise click.UsageError(f"--after {given['after']} is later than --before {given['before']}")
    source = given["source"]
    return Filters(
        source_id=None if source is None else sourceargs.only(state, stores, source)[1].id,
        mime=_mime(given["mime"]),
        uri_prefix=_prefix(given["under"]),
        fetched_after=after,
        fetched_before=before,
        metadata=tuple(_field(text) for text in given["meta"]),
    )


def _mime(text: str | None) -> str | None:
    if text is not None and not _MIME.fullmatch(text.lower()):
        raise click.UsageError(f"--type takes a MIME type such as text/markdown; got {text!r}")
    return text and text.lower()


def _prefix(text: str | None) -> str | None:
    """A URI as it is; a path as the URI of the file, or of everything below the folder."""
    if text is None or _SCHEME.match(text):
        return text
    if not text or "\0" in text:
        raise click.UsageError(f"--under takes a folder, a file or a URI; got {text!r}")
    try:
        place = os.path.realpath(os.path.expanduser(text))
    except FileNotFoundError:  # a relative path has nowhere to begin
        raise click.UsageError(
            f"the current folder was deleted, so --under {text} is nowhere; change into another one"
        ) from None
    uri = file_uri(Path(place))
    return uri if os.path.isfile(place) or uri.endswith("/") else f"{uri}/"


def _moment(option: str, text: str | None, *, last: bool) -> str | None:
    """The first or last second of a day, or the moment that is written, as it is stored."""
    if text is None:
        return None
    try:
        if not _MOMENT.fullmatch(text):
            raise ValueError(text)
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        if _DAY.fullmatch(text) and last:
            moment += timedelta(days=1, seconds=-1)
        elif moment.microsecond and not last:
            moment += timedelta(seconds=1)
        return utc_text(moment)
    except (ValueError, OverflowError):
        wanted = "a date such as 2026-03-31, or 2026-03-31T12:00:00Z"
        raise click.UsageError(f"{option} takes {wanted}; got {text!r}") from None


def _field(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    name = name.strip().lower()
    if not equals or not value.strip() or name not in (*SCALAR, *REPEATED):
        names = ", ".join(sorted((*SCALAR, *REPEATED)))
        raise click.UsageError(f"--meta takes NAME=VALUE, NAME one of {names}; got {text!r}")
    return name, value.strip()
