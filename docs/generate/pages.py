"""All generated pages by file name."""

from __future__ import annotations

from generate import api, cli, config, errors, hooks

_NOTICE = "<!-- Made by `python docs/generate`; do not edit. -->\n\n"


def pages() -> dict[str, str]:
    """File name below ``docs/reference`` → content; the same for the same code."""
    made = {
        "hooks.md": hooks.page(),
        "plugin-api.md": api.page(),
        "domain.md": api.domain_page(),
        "config.md": config.page(),
        "cli.md": cli.page(),
        "errors.md": errors.page(),
    }
    return {name: f"{_NOTICE}{text.rstrip()}\n" for name, text in made.items()}
