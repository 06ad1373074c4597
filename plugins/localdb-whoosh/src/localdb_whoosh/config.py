"""Settings under ``plugins.config.whoosh``."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

Rule = Literal["strict-first", "any"]

# The two rules measured alike (README), so the one the specification asks for stays.
DEFAULT_RULE: Final[Rule] = "strict-first"


class WhooshConfig(BaseModel):
    """How queries are matched.

    ``strict-first`` puts entries that hold all words before those that hold some;
    ``any`` ranks all of them by BM25 alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: Rule = DEFAULT_RULE
