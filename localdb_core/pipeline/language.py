"""Which language a document is in, when it does not say so itself (E-9)."""

from __future__ import annotations

import threading
from typing import Final

from localdb_core.storage.legs import STOP_WORDS

SAMPLE: Final = 4000
"""Characters looked at."""

ENOUGH: Final = 120
"""Letters below which nobody should guess."""

ENGLISH_SHARE: Final = 0.2
"""English prose has 35 to 50 % function words; no other language comes near a fifth."""

_CANDIDATES: Final = (
    "ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja km ko lt lv ms nl no pl pt ro"
    " ru sk sl sr sv ta th tr uk ur vi zh"
)
_loading = threading.Lock()


def detect(text: str) -> str | None:
    """BCP 47 tag of the text's language; None for too little text.

    Plain English is recognised by its function words, without the statistical
    model, whose loading costs more than a second.
    """
    sample = text[:SAMPLE]
    if sum(letter.isalpha() for letter in sample) < ENOUGH:
        return None
    words = [word.strip(".,;:!?()\"'").lower() for word in sample.split()]
    if len(words) >= 20 and sum(w in STOP_WORDS for w in words) >= ENGLISH_SHARE * len(words):
        return "en"
    return _classify(sample)


def _classify(sample: str) -> str:
    with _loading:
        import py3langid  # type: ignore[import-untyped]  # 1200 ms

        wanted = _CANDIDATES.split()
        py3langid.set_languages(wanted)
        language, _ = py3langid.classify(sample)
    return str(language)
