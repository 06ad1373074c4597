"""``plugin new``: a folder that installs, is found and passes its tests as it is.

    made = create(Request("rtf", "parser"), Path.cwd())

The templates lie beside this module, one folder for each kind; in them ``$name`` and its
like are replaced, and nothing else.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Final

from localdb_core.domain.errors import InvalidRequest, StorageUnavailable
from localdb_core.host.firstparty import CORE, OFFERS, normalised
from localdb_core.host.kinds import Kind
from localdb_core.version import API_VERSION, __version__

PREFIX: Final = "localdb-"
"""What distributions of plugins begin with, so that they are found by name."""

MOST_CHARACTERS: Final = 60

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

# Where a template goes that is not the light module, the implementation or a test.
_PLACES: Final[Mapping[str, str]] = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "gitignore": ".gitignore",
    "github/workflows/ci.yml": ".github/workflows/ci.yml",
    "init.py": "src/{package}/__init__.py",
    "py.typed": "src/{package}/py.typed",
}

_DEPENDENCIES: Final[Mapping[Kind, tuple[str, ...]]] = {
    "embedder": ("numpy>=2.0",),
    "index": ("numpy>=2.0",),
    "tool": ("pydantic>=2.12",),
}


@dataclass(frozen=True, slots=True)
class Request:
    """A plugin to be made; its name is that of the entry point.

    Raises:
        InvalidRequest: the name is no good for a plugin.
    """

    name: str
    kind: Kind

    def __post_init__(self) -> None:
        _check_name(self.name)

    @property
    def distribution(self) -> str:
        """What pip calls it."""
        return PREFIX + self.name

    @property
    def package(self) -> str:
        """What Python calls it."""
        return self.distribution.replace("-", "_")

    def values(self) -> dict[str, str]:
        """What the templates may say."""
        major = int(__version__.partition(".")[0])
        lowest = ".".join(__version__.split(".")[:2])
        dependencies = (f'    "{line}",\n' for line in _DEPENDENCIES.get(self.kind, ()))
        article = "An" if self.kind[0] in "aeiou" else "A"
        return {
            "name": self.name,
            "distribution": self.distribution,
            "package": self.package,
            "kind": self.kind,
            "class_name": "".join(part.capitalize() for part in self.name.split("-")),
            "summary": f"{article} {self.kind} for localdb: {self.name}",
            "api": ".".join(map(str, API_VERSION)),
            "core_range": f">={lowest},<{major + 1}",
            "dependencies": "".join(dependencies),
        }


def create(request: Request, parent: Path, *, taken: Collection[str] = ()) -> Path:
    """Make the plugin's folder in ``parent``, whole or not at all.

    ``taken`` are names of installed plugins and distributions.

    Raises:
        InvalidRequest: the name is taken, the folder is there, or ``parent`` is no folder.
        StorageUnavailable: nothing can be written there.
    """
    _check_free(request, taken)
    target = parent / request.distribution
    if os.path.lexists(target):
        raise InvalidRequest(f"{target} is there already; choose another name or --path")
    if not parent.is_dir():
        raise InvalidRequest(f"{parent} is no folder; make it first, or choose another --path")
    try:
        # Beside the target, so that it is moved and not copied; a name that hides it.
        with tempfile.TemporaryDirectory(prefix=f".{request.distribution}-", dir=parent) as scratch:
            made = Path(scratch) / request.distribution
            for place, text in files(request).items():
                path = made / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            os.rename(made, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageUnavailable(
            f"cannot make {target}: {reason}; choose another place with --path"
        ) from error
    return target


def files(request: Request) -> dict[str, str]:
    """Path within the new folder: content."""
    values = request.values()
    templates = resources.files("localdb_core.scaffold") / "templates"
    own = templates / request.kind
    values["usage"] = _rendered(own / "usage.md.tmpl", values).strip()
    made = {
        place.format(package=request.package): _rendered(
            templates.joinpath("common", *f"{name}.tmpl".split("/")), values
        )
        for name, place in _PLACES.items()
    }
    for name, place in _own_places(request):
        made[place] = _rendered(own / f"{name}.tmpl", values)
    return made


def _own_places(request: Request) -> Iterator[tuple[str, str]]:
    yield "plugin.py", f"src/{request.package}/plugin.py"
    yield f"{request.kind}.py", f"src/{request.package}/{request.kind}.py"
    yield "test_contract.py", "tests/test_contract.py"


def _rendered(template: Traversable, values: Mapping[str, str]) -> str:
    return Template(template.read_text(encoding="utf-8")).substitute(values)


def _check_name(name: str) -> None:
    """One spelling, so that the name is the same in pip, in the config and on the command line."""
    if name.startswith(PREFIX):
        raise InvalidRequest(f"leave out {PREFIX}: it is put in front of the name by itself")
    if _NAME.fullmatch(name) and len(name) <= MOST_CHARACTERS:
        return
    rule = (
        f"a plugin's name is at most {MOST_CHARACTERS} lower-case letters, digits and single"
        " hyphens, a letter first"
    )
    better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-").lstrip("-0123456789")
    better = better[:MOST_CHARACTERS].rstrip("-")
    hint = f"; try {better}" if better and better != name else ""
    raise InvalidRequest(f"{name!r}: {rule}{hint}")


def _check_free(request: Request, taken: Collection[str]) -> None:
    ours = {offer.plugin for offer in OFFERS} | {offer.distribution for offer in OFFERS}
    names = {normalised(request.name), normalised(request.distribution)}
    if names & {normalised(name) for name in (*ours, CORE)}:
        raise InvalidRequest(
            f"{request.name} is the name of a plugin of localdb's own; choose another"
        )
    if names & {normalised(name) for name in taken}:
        raise InvalidRequest(
            f"a plugin named {request.name} is installed already; choose another name, or see:"
            f" localdb plugin info {request.name}"
        )
