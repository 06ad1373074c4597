"""Index every document of the collection in one run and print what became of each.

    python tests/bench/outcomes.py
    python tests/bench/outcomes.py --limit 30 --format pdf

The run happens in a child process on a copy of the folder, with every file included,
whether or not a parser claims it. A crash or a hang ends this program with status 1; a
document that is not read is a line of the report. An outcome is held against the
manifest's ``outcome`` and ``also_acceptable``; the fragment that must come out is looked
for in the document's text after NFKC, without white space, bidirectional marks and the
bars of Markdown tables, on both sides.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from shared import data_folder, open_store, table, write_config

from localdb_core.domain.events import DocumentFinished, Event
from localdb_core.domain.ids import SourceId, StoreId, new_ulid
from localdb_core.domain.store import Source, Store
from localdb_core.domain.uri import display, file_uri

Json = dict[str, Any]  # Any: JSON values

# What counts as each expectation. "text" is indexed with the fragment found.
REFUSED: Final = frozenset({"error", "unsupported", "skipped"})
FITTING: Final[dict[str, frozenset[str]]] = {
    "ok": frozenset({"text"}),
    "tolerate": frozenset({"text", "error", "unsupported"}),
    "unsupported_or_ok": frozenset({"text", "unsupported"}),
    "ok_in_tolerant_readers": frozenset({"text", "error"}),
    "no_text": REFUSED,
    "no_text_or_unreadable": REFUSED,
    "unreadable": frozenset({"error", "unsupported"}),
    "password_required": frozenset({"error", "unsupported"}),
    "drm_protected": frozenset({"error", "unsupported"}),
    "not_this_format": frozenset({"error", "unsupported"}),
    "empty_file": REFUSED,
    "binary_not_text": REFUSED,
}
COLUMNS: Final = ("as expected", "no fragment", "no parser", "refused", "wrongly read")
_MARKS: Final = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069|")


@dataclass(frozen=True)
class Got:
    """What the run said of one file: its outcome, the warning line, the text indexed."""

    outcome: str
    reason: str = ""
    text: str = ""


def main() -> int:
    """Run, compare, print; 1 after a crash or a hang."""
    options = _options()
    if options.worker:
        _index(Path(options.worker))
        return 0
    documents = _documents(options)
    with tempfile.TemporaryDirectory(prefix="localdb-outcomes-") as folder:
        home = Path(folder)
        chosen = documents if options.limit or options.format else None
        _copy(home / "documents", chosen)
        write_config(home, dense=options.dense, sparse=options.sparse)
        started = time.monotonic()
        fault = _run(home, options.timeout)
        seconds = time.monotonic() - started
        got = _read(home / "outcomes.jsonl")
    if fault:
        print(f"{fault}; {len(got)} files were done by then", file=sys.stderr)
        return 1
    _print(documents, got, seconds)
    return 0


def judge(expect: Json, got: Got) -> str:
    """The column of a file: how its outcome stands to what the manifest says."""
    fragment = expect.get("fragment")
    outcome = got.outcome
    if outcome == "indexed":
        outcome = "text" if not fragment or _squeezed(fragment) in _squeezed(got.text) else "part"
    wanted = {expect["outcome"], *expect.get("also_acceptable", ())}
    if any(outcome in FITTING.get(name, frozenset()) for name in wanted):
        return "as expected"
    if outcome == "part":
        return "no fragment"
    if outcome == "text":
        return "wrongly read"
    return "no parser" if "no parser" in got.reason or "no installed" in got.reason else "refused"


def _documents(options: argparse.Namespace) -> list[Json]:
    manifest = json.loads(data_folder("docs", "manifest.json").read_text(encoding="utf-8"))
    rows = [
        row
        for row in manifest["documents"]
        if options.format is None or row["format"] == options.format
    ]
    return rows[: options.limit]


def _copy(target: Path, chosen: list[Json] | None) -> None:
    """The whole folder with golds and manifest, or the documents chosen."""
    origin = data_folder("docs")
    if chosen is None:
        shutil.copytree(origin, target)
        return
    for row in chosen:
        place = target / row["file"]
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin / row["file"], place)


def _run(home: Path, timeout: float) -> str:
    """Index in a child; what went wrong with the process, or nothing."""
    command = [sys.executable, __file__, "--worker", str(home)]
    try:
        status = subprocess.run(command, timeout=timeout, check=False).returncode
    except subprocess.TimeoutExpired:
        return f"HANG: the run was not over after {timeout:.0f} s"
    return f"CRASH: the run ended with status {status}" if status else ""


def _index(home: Path) -> None:
    """The child: one index run over everything; one JSON line for each file."""
    app, store = open_store(home / "config.yaml")
    with app, (home / "outcomes.jsonl").open("w", encoding="utf-8") as lines:
        reasons = _Reasons()
        logging.getLogger("localdb.index").addHandler(reasons)
        app.catalog.sources.add(_everything(store, home / "documents"))
        outcomes: dict[str, str] = {}

        def note(_: Store, event: Event) -> None:
            if isinstance(event, DocumentFinished):
                outcomes[event.uri] = str(event.outcome)

        report = app.index([store], on_event=note)[0]
        if report.error is not None:
            raise report.error
        resources, _ = app.documents.page(store, source_id=None, offset=0, limit=100_000)
        texts = {r.uri: app.documents.text(store, r.id) for r in resources}
        for path in sorted((home / "documents").rglob("*")):
            uri = file_uri(path.resolve())
            if path.is_file():
                row = {
                    "file": path.relative_to(home / "documents").as_posix(),
                    "outcome": outcomes.get(uri, "not listed"),
                    "reason": reasons.by_place.get(display(uri), ""),
                    "text": texts.get(uri, ""),
                }
                lines.write(json.dumps(row) + "\n")


class _Reasons(logging.Handler):
    """Keeps the warning line of each document."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.by_place: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.args, tuple) and len(record.args) == 2:
            self.by_place[str(record.args[0])] = str(record.args[1])


def _everything(store: Store, folder: Path) -> Source:
    source = Source(id=SourceId(new_ulid()), store_id=StoreId(store.id), kind="path")
    return replace(source, root=str(folder), include=("**/*",), created_at="2024-01-01T00:00:00Z")


def _read(path: Path) -> dict[str, Got]:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["file"]: Got(row["outcome"], row["reason"], row["text"]) for row in rows}


def _print(documents: list[Json], got: dict[str, Got], seconds: float) -> None:
    counts: dict[str, Counter[str]] = {}
    shown = []
    for row in documents:
        found = got[row["file"]]
        verdict = judge(row["expect"], found)
        counts.setdefault(row["format"], Counter()).update([verdict, "files"])
        if verdict != "as expected":
            want = "/".join([row["expect"]["outcome"], *row["expect"].get("also_acceptable", ())])
            shown.append((row["file"], want, found.outcome, " ".join(found.reason.split())[:160]))
    print("Not as expected:\n" + table(("file", "expected", "got", "reason"), shown) + "\n")
    rows = [
        (name, str(count["files"]), *(str(count[column]) for column in COLUMNS))
        for name, count in sorted(counts.items())
    ]
    total: Counter[str] = sum(counts.values(), Counter())
    rows.append(("all", str(total["files"]), *(str(total[column]) for column in COLUMNS)))
    print(table(("format", "files", *COLUMNS), rows))
    listed = Counter(found.outcome for found in got.values())
    others = ", ".join(f"{number} {name}" for name, number in sorted(listed.items()))
    silent = [
        name for name, g in got.items() if g.outcome in ("error", "unsupported") and not g.reason
    ]
    print(f"\n{len(got)} files in one run of {seconds:.1f} s: {others}")
    print(f"failures without a line of their own: {len(silent)} {silent[:5] or ''}".rstrip())


def _squeezed(text: str) -> str:
    normal = unicodedata.normalize("NFKC", text)
    return "".join(c for c in normal if not c.isspace() and c not in _MARKS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="outcomes of every document, against the manifest")
    parser.add_argument("--limit", type=int, help="only the first N documents")
    parser.add_argument("--format", help="only one format of the manifest, such as pdf")
    parser.add_argument("--dense", default="exact", help="which dense index is filled")
    parser.add_argument("--sparse", default="fts5", help="which sparse index is filled")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds before it is a hang")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
