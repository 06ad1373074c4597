"""The one place where Whoosh is imported: late, and without its compile warnings."""

from __future__ import annotations

import importlib
import warnings
from functools import cache
from types import SimpleNamespace
from typing import Any

# Everything that will be needed, so that nothing of Whoosh is compiled later,
# outside the guard. `whoosh.qparser` is left out on purpose: user text never gets there.
_MODULES = (
    "analysis",
    "analysis.filters",
    "codec.whoosh3",
    "collectors",
    "fields",
    "filedb.filestore",
    "index",
    "lang",
    "lang.snowball",
    "lang.stopwords",
    "matching",
    "query",
    "reading",
    "scoring",
    "searching",
    "writing",
)


@cache
def whoosh() -> Any:  # Any: Whoosh has no types
    """The modules of Whoosh by their last name: ``whoosh().index.create_in``."""
    with warnings.catch_warnings():
        # Its sources hold invalid escapes, which Python reports when it compiles them.
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        modules = {name: importlib.import_module(f"whoosh.{name}") for name in _MODULES}
    return SimpleNamespace(**{name.rpartition(".")[2]: module for name, module in modules.items()})
