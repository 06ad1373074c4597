"""The two lines that a newcomer types, and that CI runs."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETUP = (
    "python3 -m venv --without-pip .venv"
    " && python3 -m pip --python .venv/bin/python install tox"
    " && .venv/bin/tox run -e "
)


def test_the_readme_holds_each_of_its_two_lines_once():
    lines = (ROOT / "README.md").read_text().splitlines()

    assert [line for line in lines if line.startswith(SETUP)] == [SETUP + "demo", SETUP + "py"]


def test_ci_runs_the_line_for_tests():
    script = (ROOT / ".ci" / "run").read_text()

    pattern = re.search(r"grep -E '([^']+)' README.md", script)
    assert pattern is not None
    assert re.fullmatch(pattern[1], SETUP + "py")


def test_every_link_of_the_readme_leads_to_a_file():
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / "README.md").read_text())

    assert [link for link in links if not (ROOT / link).exists()] == []
    assert len(links) > 10
