"""What every test has: how hard property tests look, and a Ctrl-C that arrives."""

import os
import signal

from hypothesis import settings

# HYPOTHESIS_PROFILE=long is for a night.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("long", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "quick")

# A shell starts background jobs with SIGINT ignored, and children inherit that; tests of
# Ctrl-C need what a terminal gives, however the tests themselves were started.
signal.signal(signal.SIGINT, signal.default_int_handler)
