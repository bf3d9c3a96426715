"""Types of the fields of settings, with the range of their values."""

from typing import Annotated

from msgspec import Meta

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[float, Meta(gt=0, le=1e6)]
Share = Annotated[float, Meta(ge=0, lt=1)]
