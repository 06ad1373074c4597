"""Settings under ``plugins.config.http-embedder``: what the service does not tell."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1)]


class HttpEmbedderConfig(BaseModel):
    """What the service's model is, and how it is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    dimension: Annotated[int, Field(ge=1, le=65_536)] = 1536
    """Numbers in a vector of the model; an answer of another length is refused."""
    max_tokens: Count = 512
    """Longest input; what is beyond is cut before it is sent."""
    bytes_per_token: Count = 3
    """Bytes of UTF-8 that count as one token; the service has no way to ask."""
    query_prefix: str = ""
    """Put before a question, for models that want one."""
    passage_prefix: str = ""
    """Put before a passage, for models that want one."""
    batch: Annotated[int, Field(ge=1, le=2048)] = 32
    """Texts in one request."""
    timeout: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] = 30.0
    """Seconds for one request, its answer included."""
    retries: Annotated[int, Field(ge=0, le=10)] = 3
    """How often a request is sent again when the service is busy, broken or away."""
