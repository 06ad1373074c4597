"""What a light plugin costs at every start, as a share of the start itself.

    python tests/bench/startup.py [--plugins 30] [--repeat 5]

Makes plugins of one parser each, whose light module imports nothing but the public API, and
runs ``localdb plugin list`` without and with them. CPU time of the processes counts, and the
least of several runs, so that a busy machine disturbs little.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LIGHT = """
from localdb_core.plugin import ParserSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="made to be measured")


@hookimpl
def localdb_parsers() -> list[ParserSpec]:
    return [ParserSpec(name="{name}", target="{name}_parser:Parser", suffixes=(".{name}",))]
"""


def install(site: Path, number: int) -> None:
    """One distribution with one light plugin, as it lies in site-packages."""
    name = f"light{number}"
    (site / f"{name}.py").write_text(LIGHT.format(name=name))
    info = site / f"test_{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: test-{name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[localdb.plugins]\n{name} = {name}\n")


def cpu_seconds(command: list[str], environ: dict[str, str], repeat: int) -> float:
    """The least CPU time of several runs; the first fills the caches and is not counted."""
    least = float("inf")
    for run in range(repeat + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environ, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = min(least, spent) if run else least
    return least


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugins", type=int, default=30, help="how many (default: 30)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each (default: 5)")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, site = Path(folder, "home"), Path(folder, "site")
        home.mkdir()
        site.mkdir()
        for number in range(wanted.plugins):
            install(site, number)
        base = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "LOCALDB_"))}
        base |= {"HOME": str(home), "PYTHONPATH": os.pathsep.join(filter(None, sys.path[1:]))}
        command = [sys.executable, "-m", "localdb_core.cli.main", "plugin", "list"]
        without = cpu_seconds(command, base, wanted.repeat)
        path = os.pathsep.join([str(site), base["PYTHONPATH"]])
        with_them = cpu_seconds(command, base | {"PYTHONPATH": path}, wanted.repeat)
    share = (with_them - without) / wanted.plugins / without
    print(f"plugin list without them:  {without * 1000:.0f} ms CPU")
    print(f"with {wanted.plugins} light plugins:     {with_them * 1000:.0f} ms CPU")
    print(f"one light plugin costs {share:.2%} of a start")


if __name__ == "__main__":
    main()
