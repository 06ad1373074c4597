"""How hard the property tests look: ``HYPOTHESIS_PROFILE=long`` for a night, else quickly."""

import os

from hypothesis import settings

settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("long", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "quick")
