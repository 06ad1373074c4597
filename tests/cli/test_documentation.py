"""Every block of code in ``docs/`` and the README works.

The blocks of a page run in their order, in one empty home, within this process. ``sh`` and
``console`` run what stands there, ``python`` and ``toml`` blocks whose first line is a comment
with a file's name become that file, other ``python`` blocks are executed, ``yaml`` is read as
the config, and counts from then on if it is called ``config.yaml``. In ``console`` blocks the
output is compared; ``…`` stands for anything. A comment ``<!-- not run: why -->`` in front of a
block leaves it at parsing.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import click
import pytest
import yaml

from localdb_core.cli.main import root
from localdb_core.config.load import parse_config

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = "<!-- Made by"
BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<why>[^>]+) -->\n+)?^(?P<indent> *)```(?P<language>\w*)\n"
    r"(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
NAMED = re.compile(r"# ([\w./-]+\.\w+)\n")
OUTPUT = {"", "text"}
TOOLS = {"cat", "chmod", "cp", "echo", "ls", "mkdir", "mv", "printf", "rm", "touch"}
SERVES = {"mcp"}  # until its input ends; tests/mcp talks to it

CONFIG = {
    "version": 1,
    "index": {"dense": "exact", "sparse": "fts5"},
    "defaults": {"indexing": {"embedding": {"provider": "fake", "model": "fake"}}},
}
NOTES = {
    "notes/flat.md": "# Flat\n\n## Lease\n\nThe lease ends in May. To renew the lease, write.\n",
    "notes/invoices.md": "---\ncreator: Ann\n---\n# Invoices\n\nInvoice 4711 is paid.\n",
    "contracts/gym.md": "# Gym\n\nThe notice period is three months.\n",
}


@dataclass
class Block:
    """A fenced block and where it stands."""

    place: str
    language: str
    text: str
    why: str | None

    @property
    def name(self):
        found = NAMED.match(self.text)
        return found[1] if found else None


def blocks(page):
    text = page.read_text()
    if text.startswith(GENERATED):  # held to the code by tests/repo/test_reference.py
        return []
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("text"))
        place = f"{page.relative_to(ROOT)}:{line}"
        inner = re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        found.append(Block(place, match["language"], inner, match["why"]))
    return found


WITH_CODE = [page for page in PAGES if any(b.language not in OUTPUT for b in blocks(page))]


@dataclass
class Reader:
    """Somebody who types what a page says."""

    here: object
    patch: pytest.MonkeyPatch
    names: dict = field(default_factory=dict)

    def __post_init__(self):
        self.config = self.here.home / ".config/localdb/config.yaml"
        self.write(self.config, yaml.safe_dump(CONFIG))
        for name, text in NOTES.items():
            self.write(self.here.home / name, text)
        self.install("memory", "localdb_core.testing.memory_plugin")
        assert self.here("init").status == 0

    @staticmethod
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def install(self, name, module, *, version="0", code=None):
        """What ``pip install`` leaves: an entry point, and a path to the code."""
        site = self.here.home / f".site/{name}"
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        self.write(info / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = module if isinstance(module, str) and "\n" in module else f"{name} = {module}\n"
        self.write(info / "entry_points.txt", f"[localdb.plugins]\n{lines}")
        for path in (site, code) if code else (site,):
            self.patch.syspath_prepend(str(path))
            later = os.environ.get("PYTHONPATH", "")
            self.patch.setenv("PYTHONPATH", f"{path}{os.pathsep}{later}")  # for parser processes

    def follow(self, block):
        reading = getattr(self, f"read_{block.language}", None)
        assert reading is not None, f"{block.place}: nobody knows how to check {block.language!r}"
        reading(block)

    def read_python(self, block):
        code = compile(block.text, block.place, "exec")
        if block.why is not None:
            return
        if block.name:
            self.write(Path(block.name), block.text)
        else:
            with redirect_stdout(StringIO()):
                exec(code, self.names)

    def read_toml(self, block):
        tomllib.loads(block.text)
        if block.name:
            self.write(Path(block.name), block.text)

    def read_yaml(self, block):
        text = block.text if "version: 1" in block.text else f"version: 1\n{block.text}"
        parse_config(text)
        if block.name == "config.yaml":
            written = yaml.safe_load(self.config.read_text())
            self.write(self.config, yaml.safe_dump(merged(written, yaml.safe_load(text))))

    def read_json(self, block):
        servers = json.loads(block.text).get("mcpServers", {})
        for server in servers.values():
            self.parse(block, [Path(server["command"]).name, *server["args"]])

    def read_sh(self, block):
        for line in block.text.replace("\\\n", " ").splitlines():
            self.type(block, line, expected=None)

    def read_console(self, block):
        head, *typed = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        assert head == "", f"{block.place}: begins without a prompt"
        for part in typed:
            line, _, expected = part.partition("\n")
            self.type(block, line, expected=expected)

    def type(self, block, line, *, expected):
        words = shlex.split(line, comments=True)
        if not words:
            return
        words = [re.sub(r"^~(?=/|$)", str(self.here.home), word) for word in words]
        if words[0] == "localdb":
            self.parse(block, words)
        if block.why is None:
            self.run(block, line, words, expected)

    def run(self, block, line, words, expected):
        match words:
            case ["localdb", command, *_] if command in SERVES:
                return
            case ["localdb", *arguments]:
                self.localdb(block, line, arguments, expected)
            case ["cd", folder]:
                self.patch.chdir(folder)
            case ["export", assignment]:
                self.patch.setenv(*assignment.split("=", 1))
            case ["pip", "install", "-e", place]:
                self.pip_install(Path(place.removesuffix("[test]")).resolve())
            case [tool, *_] if tool in TOOLS:
                subprocess.run(["sh", "-euc", line], check=True, stdout=subprocess.DEVNULL)
            case ["pytest"]:  # without what `plugin check` asks, too, and needs processes for
                chosen = ["-q", "-p", "no:cacheprovider", "-k", "not TestPlugin", "."]
                assert pytest.main(chosen) == 0, block.place
            case _:
                raise AssertionError(f"{block.place}: say why this is not run: {line}")

    def pip_install(self, folder):
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        points = project["entry-points"]["localdb.plugins"]
        lines = "".join(f"{name} = {module}\n" for name, module in points.items())
        code = folder / "src" if (folder / "src").is_dir() else folder
        self.install(project["name"], lines, version=project["version"], code=code)

    def localdb(self, block, line, arguments, expected):
        target = None
        if ">" in arguments:
            arguments, target = arguments[: arguments.index(">")], arguments[-1]
        ran = self.here(*arguments)
        if target:
            self.write(Path(target), ran.out)
        said = f"{block.place}: {line}\n{ran.out}{ran.err}"
        fails = expected is not None and re.search(r"^(error:|fail )", expected, re.MULTILINE)
        assert (ran.status != 0) is bool(fails), f"status {ran.status}: {said}"
        if expected:
            pattern = re.escape(expected.strip()).replace("…", ".*?")
            every = (ran.out, ran.err, ran.out + ran.err, ran.err + ran.out)
            assert any(re.fullmatch(pattern, out.strip(), re.DOTALL) for out in every), said

    def parse(self, block, words):
        """Hold a line against the real commands and options."""
        command, rest = root(), [word for word in words[1:] if word != "..."]
        rest = rest[: rest.index(">")] if ">" in rest else rest
        context = None
        try:
            while True:
                name = "localdb" if context is None else rest.pop(0)
                if context is not None:
                    found = command.get_command(context, name)
                    assert found is not None, f"{block.place}: no command {name!r}"
                    command = found
                context = command.make_context(name, rest, parent=context, obj=self.here.state())
                if not isinstance(command, click.Group):
                    return
                rest = [*context._protected_args, *context.args]
        except click.UsageError as error:
            raise AssertionError(f"{block.place}: {' '.join(words)}: {error.message}") from error


def merged(below, above):
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    keys = {**below, **above}
    return {key: merged(below.get(key), above[key]) if key in above else below[key] for key in keys}


@pytest.fixture
def reader(here, monkeypatch):
    before = set(sys.modules)
    yield Reader(here, monkeypatch)
    for name in set(sys.modules) - before:  # another page may have a module of this name
        origin = getattr(sys.modules[name], "__file__", None) or ""
        if origin.startswith(str(here.home)):
            del sys.modules[name]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_says_to_type_works(reader, page):
    for block in blocks(page):
        if block.language not in OUTPUT:
            reader.follow(block)


def test_a_block_that_is_not_run_says_why_and_is_the_exception():
    every = [b for page in PAGES for b in blocks(page) if b.language not in OUTPUT]
    left_out = [block for block in every if block.why is not None]

    assert all(len(block.why.split()) > 2 for block in left_out)
    assert len(left_out) < len(every) / 2
