"""The command ``doctor``."""

import pytest

NO_PLUGINS = "--no-plugins"


@pytest.mark.req("L-CLI-37")
def test_doctor_prints_a_line_a_check_and_makes_nothing(here):
    ran = here("doctor", NO_PLUGINS)

    assert ran.status == 0, ran.out
    assert all(line.startswith(("ok    ", "warn  ")) for line in ran.out.splitlines())
    assert "ok    database: " in ran.out
    assert ran.err == ""
    assert list(here.home.iterdir()) == []


@pytest.mark.req("L-CLI-37")
def test_doctor_in_json_is_one_object_with_the_same(here):
    here("store", "list", NO_PLUGINS)
    ran = here("doctor", "--json", NO_PLUGINS)

    assert list(ran.json) == ["checks"]
    assert {tuple(check) for check in ran.json["checks"]} == {
        ("name", "status", "message", "remedy")
    }
    assert {check["status"] for check in ran.json["checks"]} == {"ok", "warn"}


@pytest.mark.req("L-CLI-37")
def test_doctor_fails_when_a_check_fails_and_says_what_to_type(here):
    here.config.parent.mkdir(parents=True)
    here.config.write_text("version: 1\nbogus: 1\n")

    text = here("doctor", NO_PLUGINS)
    data = here("doctor", "--json", NO_PLUGINS)

    assert text.status == data.status == 1
    assert f"fail  config: {here.config}: bogus is not a known key; edit {here.config}" in text.out
    assert [c["name"] for c in data.json["checks"] if c["status"] == "fail"] == ["config"]
    assert here.config.read_text() == "version: 1\nbogus: 1\n"
