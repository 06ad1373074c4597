"""The one place where a plugin's exceptions are caught.

Import, hook calls and component building run inside :func:`guard`, which turns
whatever they raise into a PluginError that names its owner. A plugin that hangs
for ever or ends the process from C cannot be contained in process.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, TracebackType
from typing import Final

from localdb_core.domain.errors import PluginError

_LOG = logging.getLogger(__name__)

NOTICE_AFTER: Final = 5.0
"""Seconds of one import before the user is told what they are waiting for."""

LONGEST_REASON: Final = 500
"""Characters of an exception's text that are shown."""

_HOST: Final = str(Path(__file__).parent)


class Refused(Exception):
    """A plugin broke a rule of the host; the message is the whole story."""


class Incompatible(Refused):
    """A plugin needs another plugin API."""


@dataclass(slots=True)
class Meter:
    """CPU time spent in a plugin, summed over its stages."""

    ms: float = 0.0


@contextmanager
def guard(
    plugin: str,
    stage: str,
    *,
    during: str = "",
    component: str = "",
    distribution: str = "",
    meter: Meter | None = None,
    knowingly: tuple[type[Exception], ...] = (),
) -> Iterator[None]:
    """Run a plugin's code; anything it raises becomes a PluginError.

    ``during`` says what was being done, in front of the reason. ``knowingly`` lists
    errors that pass as they are, because the plugin means them. KeyboardInterrupt
    and MemoryError pass always: they are not about the plugin.
    """
    began = time.thread_time()
    try:
        yield
    except (MemoryError, KeyboardInterrupt, GeneratorExit):
        raise
    except knowingly:
        raise
    except BaseException as cause:  # noqa: BLE001 - the plugin guard; CancelledError is no Exception
        raise PluginError(
            plugin,
            stage=stage,
            reason=f"{during}: {reason_of(cause)}" if during else reason_of(cause),
            component=component,
            distribution=distribution,
        ) from cause
    finally:
        if meter is not None:
            meter.ms += (time.thread_time() - began) * 1000


@contextmanager
def announced(plugin: str, after: float = NOTICE_AFTER) -> Iterator[None]:
    """Say on stderr which plugin is still being loaded, once, after a while."""
    timer = threading.Timer(after, _announce, (plugin,))
    timer.daemon = True  # an import that ends the process must not wait for it
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def reason_of(cause: BaseException) -> str:
    """One line for people, never a long one; whatever the exception does when asked."""
    try:
        lines = str(cause).strip().splitlines()
    except Exception:  # noqa: BLE001 - an exception of a plugin is plugin code, too
        return f"{type(cause).__name__}, which cannot be printed"
    text = lines[0] if lines else ""
    text = text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 3]}..."
    if isinstance(cause, SystemExit):
        return f"ends the process (SystemExit: {text})" if text else "ends the process (SystemExit)"
    if text and isinstance(cause, Refused | ImportError):
        return text
    return f"{type(cause).__name__}: {text}" if text else type(cause).__name__


def plugin_traceback(error: PluginError) -> str:
    """The traceback of what went wrong, from the plugin's first frame on."""
    cause = error.__cause__
    if cause is None:
        return ""
    return "".join(
        traceback.format_exception(type(cause), cause, _from_plugin(cause.__traceback__))
    )


def _from_plugin(trace: TracebackType | None) -> TracebackType | None:
    """Drop the frames of the host and of the import system at the top."""
    while trace is not None and _is_machinery(trace.tb_frame.f_code):
        trace = trace.tb_next
    return trace


def _is_machinery(code: CodeType) -> bool:
    path = Path(code.co_filename)
    return (
        code.co_filename.startswith("<frozen importlib")
        or code.co_name == "exec_module"  # loaders that others put into the import system
        or path.parts[-2:] == ("importlib", "__init__.py")
        or str(path.parent) == _HOST
    )


def _announce(plugin: str) -> None:
    _LOG.warning("still loading plugin %s; skip it with -P no:%s", plugin, plugin)
