"""Durations are numbers with a unit, and nothing else."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.domain.duration import parse_duration
from localdb_core.domain.errors import InvalidRequest


@pytest.mark.req("L-CFG-26")
@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("24h", timedelta(hours=24)),
        ("15m", timedelta(minutes=15)),
        ("90s", timedelta(seconds=90)),
        ("90", timedelta(seconds=90)),
        ("007", timedelta(seconds=7)),
        ("876000h", timedelta(days=36_500)),
        ("", None),
    ],
)
def test_a_number_and_its_unit_are_understood(text, duration):
    assert parse_duration(text) == duration


@pytest.mark.req("L-CFG-26")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        *[(text, "must be greater than zero") for text in ("0", "0h", "000m", "0s")],
        *[
            (text, "is no duration; write a number and h, m or s, as in 24h")
            for text in ("h", "1d", "1H", "1 h", " 1h", "1h\n", "-1h", "+1h", "1.5h", "1h30m")
        ],
        *[(text, "is no duration") for text in ("٣h", "1_000", "soon", "1e3", "\0", "x" * 999)],
        *[(text, "100 years") for text in ("876001h", "9999999999999", "9" * 10_000 + "s")],
    ],
)
def test_anything_else_is_refused(text, said):
    with pytest.raises(InvalidRequest) as caught:
        parse_duration(text)

    assert said in caught.value.bare
    assert len(caught.value.bare) < 120


@pytest.mark.req("L-CFG-26")
@given(st.integers(1, 876_000), st.sampled_from("hms"))
def test_what_was_written_is_what_is_meant(number, unit):
    duration = parse_duration(f"{number}{unit}")

    assert duration == number * parse_duration(f"1{unit}")


@given(st.text(max_size=12))
def test_no_text_does_worse_than_being_refused(text):
    try:
        duration = parse_duration(text)
    except InvalidRequest:
        return
    assert duration is None or duration > timedelta(0)
