"""``index --delete --force``: first the list, then the question, then only what was listed."""

import pytest

ALONE = "--no-plugins"


@pytest.mark.req("L-BYD-14")
def test_force_lists_what_would_go_and_asks(here):
    notes = here.home / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Herons fish.\n")
    here("add", notes, ALONE)
    (notes / "a.md").unlink()

    kept = here("index", "--delete", ALONE)
    alone = here("index", "--force", ALONE)
    mute = here("index", "--delete", "--force", "--json", ALONE)
    refused = here("index", "--delete", "--force", ALONE, typed="n\n")
    agreed = here("index", "--delete", "--force", ALONE, typed="y\n")

    assert "0 errors\n" in kept.out
    assert (alone.status, mute.status, refused.status, agreed.status) == (2, 2, 0, 0)
    assert f"[default] file:{notes}/a.md (kept: none of its documents was seen)" in refused.err
    assert "Forget this document?" in refused.err
    assert refused.out == ""
    assert "1 deleted" in agreed.out
    assert here("document", "list", ALONE).out == ""
    assert here("index", "--delete", "--force", ALONE).status == 0  # nothing to ask about


@pytest.mark.req("L-BYD-14")
def test_an_emptied_file_that_was_agreed_to_go_is_not_said_to_stay(here):
    notes = here.home / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Herons fish.\n")
    here("add", notes, ALONE)
    (notes / "a.md").write_text("")

    agreed = here("index", "--delete", "--force", ALONE, typed="y\n")

    assert "1 deleted" in agreed.out
    assert "its last version is kept" not in agreed.err.partition("Forget")[2]
    assert here("document", "list", ALONE).out == ""
