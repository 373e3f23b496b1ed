"""tenklog: keep score of Ten Thousand as event logs, and replay the same dice under other rules.

In a notebook: `log = load("game.jsonl")`, `game = fold(log.events)`, `standings(game.position)`, `sheet(game)`,
`replay(game, log.events, preset("zilch"), of=log.fingerprint)`.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tenklog.decide import decide as decide
    from tenklog.game import evolve as evolve
    from tenklog.game import fold as fold
    from tenklog.projections import sheet as sheet
    from tenklog.projections import show as show
    from tenklog.projections import standings as standings
    from tenklog.replay import replay as replay
    from tenklog.rules import Ruleset as Ruleset
    from tenklog.rules import preset as preset
    from tenklog.store import read as load

# Public name -> (module, name there). Loaded when first used, so that a command line pays for what it needs alone.
_PUBLIC = {
    "Ruleset": ("rules", "Ruleset"),
    "decide": ("decide", "decide"),
    "evolve": ("game", "evolve"),
    "fold": ("game", "fold"),
    "load": ("store", "read"),
    "preset": ("rules", "preset"),
    "replay": ("replay", "replay"),
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
