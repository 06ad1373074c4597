"""``errors.md``: every code, with its exit status and HTTP status."""

from __future__ import annotations

from generate.markdown import code, prose, table
from localdb_core.domain.errors import ERRORS_BY_CODE, InternalError, LocaldbError

_INTRO = """\
# Errors

An error is one line on standard error: lower case, what happened, with what, and often what to type
next. With `--json` it is the last line there, `{"error": CODE, "message": TEXT}`. The code never
changes; the words may. `--verbose` adds a traceback.

## Exit statuses

| Status | Meaning |
| --- | --- |
| `0` | it worked |
| `1` | a fault of localdb or of a plugin; `doctor` and `plugin check` found something |
| `2` | the request, the config or a document is wrong |
| `3` | something named does not exist |
| `4` | somebody else is at it |
| `5` | something outside is missing or does not answer |
| `130` | Ctrl-C |

## Codes

"""


def codes() -> dict[str, type[LocaldbError]]:
    """Code → the class that carries it; ``internal`` comes last."""
    return {**ERRORS_BY_CODE, InternalError.code: InternalError}


def page() -> str:
    """A table of all codes, then a section for each."""
    found = codes()
    rows = [
        (f"[{code(name)}](#{name})", code(str(kind.exit_status)), code(str(kind.http_status)))
        for name, kind in found.items()
    ]
    text = _INTRO + table(("Code", "Exit", "HTTP"), rows)
    return text + "".join(_section(name, kind) for name, kind in found.items())


def _section(name: str, kind: type[LocaldbError]) -> str:
    """What the class says of itself, and those below it that share its code."""
    text = f"### {name}\n\n{prose(kind.__doc__)}"
    text += f"Class `{kind.__name__}`, exit {kind.exit_status}, HTTP {kind.http_status}."
    start = kind.usual or kind.prefix
    text += f" The message begins `{start.strip()}`.\n\n" if start else "\n\n"
    special = [k for k in kind.__subclasses__() if k.code == name and k is not LocaldbError]
    return text + "".join(f"- `{k.__name__}`: {prose(k.__doc__)}" for k in special)
