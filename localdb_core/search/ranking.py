"""The ranker, between fuse and cut: within its budget, and never at a result's cost."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Real
from typing import Final

from localdb_core.domain.chunk import Chunk
from localdb_core.domain.errors import LocaldbError, PluginError
from localdb_core.domain.query import RankerReport
from localdb_core.domain.resource import Resource
from localdb_core.host.guard import Refused, guard
from localdb_core.host.owned import Owned
from localdb_core.plugin import Ranked, RankEntry, Ranker, RankerSpec
from localdb_core.search.fusion import Fused

_LOG: Final = logging.getLogger(__name__)

Note = Callable[[str], None]


@dataclass(slots=True)
class Hit:
    """A fused entry with what it stands for, and where the ranker put it (from 1)."""

    fused: Fused
    chunk: Chunk
    resource: Resource
    ranked: int | None = None
    rank_score: float | None = None


class _Late(Exception):
    """The budget is spent; the message says by what."""


@dataclass
class _Runner:
    """A loaded ranker, and at most one thread inside it."""

    owned: Owned[RankerSpec]
    ranker: Ranker
    _free: threading.Lock = field(default_factory=threading.Lock)
    _overdue: bool = False

    def rank(
        self, query: str, entries: Sequence[RankEntry], budget_ms: int
    ) -> list[tuple[int, float]]:
        """Places in ``entries``, best first, with their scores. Raises LocaldbError, _Late."""
        deadline = time.monotonic() + budget_ms / 1000
        # One that is overdue may never come back, so nobody waits for it a second time.
        if not self._free.acquire(timeout=0 if self._overdue else budget_ms / 1000):
            raise _Late("is still at work on an earlier search")
        answers: list[list[tuple[int, float]] | BaseException] = []
        done = threading.Event()

        def work() -> None:
            try:
                answers.append(self._asked(query, entries))
            except BaseException as error:  # noqa: BLE001 - handed to the search, which raises it
                answers.append(error)
            finally:
                self._overdue = False
                self._free.release()
                done.set()

        # A daemon: a call that never ends must not keep the program from ending.
        try:
            threading.Thread(target=work, name="ranker", daemon=True).start()
        except RuntimeError as error:
            self._free.release()
            raise _Late(str(error)) from error
        if not done.wait(max(0.0, deadline - time.monotonic())):
            self._overdue = not done.is_set()
            raise _Late(f"took more than {budget_ms} ms")
        (answer,) = answers
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _asked(self, query: str, entries: Sequence[RankEntry]) -> list[tuple[int, float]]:
        with guard(
            self.owned.plugin,
            "rank",
            component=self.owned.full_id,
            distribution=f"{self.owned.distribution} {self.owned.version}".strip(),
            knowingly=(LocaldbError,),
        ):
            # One more than there are is enough to see that an answer is wrong.
            return accepted(islice(self.ranker.rank(query, entries), len(entries) + 1), entries)

    def close(self) -> None:
        """Close the ranker, unless a call that was given up is still inside."""
        if not self._free.acquire(blocking=False):
            return
        try:
            with guard(self.owned.plugin, "close", component=self.owned.full_id):
                self.ranker.close()
        except PluginError as error:
            _LOG.debug("%s", error, exc_info=error.__cause__)


@dataclass
class Rankers:
    """Runs the ranker of a search; what goes wrong costs its order and is said.

    Attributes:
        choose: the ranker of a name, or the configured one for None; raises
            InvalidRequest and InvalidConfig.
        build: loads it; raises LocaldbError, which is remembered.
        candidates: hits it sees at most.
        budget_ms: time for one answer; loading is not counted.
    """

    choose: Callable[[str | None], Owned[RankerSpec] | None]
    build: Callable[[Owned[RankerSpec]], Ranker]
    candidates: int
    budget_ms: int
    _made: dict[str, _Runner | LocaldbError] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sees(self, owned: Owned[RankerSpec]) -> int:
        """How many of the best hits this ranker is shown."""
        top = owned.value.top
        return self.candidates if top is None else min(top, self.candidates)

    def order(
        self, owned: Owned[RankerSpec], query: str, hits: Sequence[Hit], note: Note
    ) -> tuple[list[Hit], RankerReport]:
        """The hits as the ranker wants them, those it did not see behind the others."""
        seen, rest = hits[: self.sees(owned)], hits[self.sees(owned) :]
        name = owned.value.name
        if not seen:
            return list(rest), RankerReport(name, 0)
        try:
            places = self._runner(owned).rank(query, [_entry(hit) for hit in seen], self.budget_ms)
        except (LocaldbError, _Late) as error:
            reason = error.bare if isinstance(error, LocaldbError) else str(error)
            note(f"the ranker {name} is left out, the order is that of the legs: {reason}")
            return list(hits), RankerReport(name, len(seen), reason)
        for rank, (place, score) in enumerate(places, start=1):
            seen[place].ranked, seen[place].rank_score = rank, score
        return [*(seen[place] for place, _ in places), *rest], RankerReport(name, len(seen))

    def close(self) -> None:
        """Close what was loaded."""
        with self._lock:
            for made in self._made.values():
                if isinstance(made, _Runner):
                    made.close()
            self._made.clear()

    def _runner(self, owned: Owned[RankerSpec]) -> _Runner:
        with self._lock:
            if owned.full_id not in self._made:
                try:
                    self._made[owned.full_id] = _Runner(owned, self.build(owned))
                except LocaldbError as error:
                    self._made[owned.full_id] = error
            made = self._made[owned.full_id]
        if isinstance(made, LocaldbError):
            raise made
        return made


def accepted(answer: Iterable[object], entries: Sequence[RankEntry]) -> list[tuple[int, float]]:
    """Places in ``entries`` with their scores, best first; ties keep the order of ``entries``.

    Raises Refused for an answer that is not made of these entries, each once, with
    finite scores.
    """
    places = {(entry.store_id, entry.chunk_id): n for n, entry in enumerate(entries)}
    scores: dict[int, float] = {}
    for item in answer:
        if not isinstance(item, Ranked):
            raise Refused(f"answered a {type(item).__name__} instead of a Ranked")
        place = places.get((item.entry.store_id, item.entry.chunk_id))
        if place is None:
            raise Refused("answered an entry it was not asked about")
        if place in scores:
            raise Refused("answered an entry twice")
        score: object = item.score  # Real: NumPy's numbers are no floats
        if not isinstance(score, Real) or not math.isfinite(score):
            raise Refused(f"answered the score {score!r}")
        scores[place] = float(score)
    return sorted(scores.items(), key=lambda scored: (-scored[1], scored[0]))


def _entry(hit: Hit) -> RankEntry:
    return RankEntry(
        store_id=hit.fused.key[0],
        chunk_id=hit.chunk.id,
        text=hit.chunk.text,
        headings=tuple(part for part in hit.chunk.heading_path if part),
        title=hit.resource.metadata.title or hit.resource.title,
        score=hit.fused.score,
    )
