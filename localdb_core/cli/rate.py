"""A column of the progress bar; apart, because it needs rich when it is defined."""

from __future__ import annotations

from rich.progress import ProgressColumn, Task
from rich.text import Text


class RateColumn(ProgressColumn):
    """Things done in a second."""

    def render(self, task: Task) -> Text:
        """``12.3/s``, or ``-`` before anything is known."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "-")
