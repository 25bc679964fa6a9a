"""Where do the people of a Hermes home want to be told things?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.homes.hermes.config_files import Configuration, mapping

SUFFIX = "_HOME_CHANNEL"


def home_channel(said: Configuration) -> str | None:
    """The platform that has a home channel, as `hermes send --to` names it; of several the first.

    The order is that of the files, so that it does not change by itself.
    """
    return next(_platforms(said), None)


def _platforms(said: Configuration) -> Iterator[str]:
    names = [*said.variables, *(name for name in said.config.values if isinstance(name, str))]
    for name in names:
        if name.endswith(SUFFIX) and said.variable(name).strip():
            yield name.removesuffix(SUFFIX).lower()
    for name, platform in mapping(said.config.values.get("platforms")).items():
        if isinstance(name, str) and mapping(platform).get("home_channel"):
            yield name
