"""Settings, in the config under ``plugins.config.office``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class OfficeConfig(BaseModel):
    """What a user may set.

    Attributes:
        max_rows: rows read of each sheet and of each CSV file, header included; the
            rest is left out with a warning.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_rows: int = Field(default=10_000, ge=1)
