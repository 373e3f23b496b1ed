"""tenklog: keep score of Ten Thousand as event logs, and replay the same dice under other rules.

In a notebook: `log = load("game.jsonl")`, `game = fold(log.events)`, `standings(game.position)`, `sheet(game)`,
`replay(game, log.events, preset("zilch"), of=log.fingerprint)`.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Ruleset", "decide", "evolve", "fold", "load", "preset", "replay", "sheet", "show", "standings"]

if TYPE_CHECKING:
    from tenklog.decider import decide
    from tenklog.game import evolve, fold
    from tenklog.projections import sheet, show, standings
    from tenklog.reading import read as load
    from tenklog.replayer import replay
    from tenklog.rulebook import preset
    from tenklog.rules import Ruleset

# Public name -> (module, name there). Loaded when first used, so that a command line pays for what it needs alone.
_PUBLIC = {
    "Ruleset": ("rules", "Ruleset"),
    "decide": ("decider", "decide"),
    "evolve": ("game", "evolve"),
    "fold": ("game", "fold"),
    "load": ("reading", "read"),
    "preset": ("rulebook", "preset"),
    "replay": ("replayer", "replay"),
    "sheet": ("projections", "sheet"),
    "show": ("projections", "show"),
    "standings": ("projections", "standings"),
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'tenklog' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _PUBLIC[name]
    return getattr(import_module(f"tenklog.{module}"), attribute)
