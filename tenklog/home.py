"""Home: this module knows the home folder: where its games lie, which one is current, and what a typed GAME means.

A name that somebody types is compared with what is there; a path is built from a checked id alone. Nothing is created
before something is written.
"""

import os
import sys
from pathlib import Path

from msgspec import Struct

from tenklog import files
from tenklog.errors import AccessError, UsageError, nearest

STDIN = Path("-")
_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
# Files that nobody can have on Windows.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(10))}
_CONSONANTS = "bcdfghjkmnpqrstvwxz"  # no words by accident


def default_home() -> Path:
    """Return TENKLOG_HOME, else the folder for data of the platform."""
    named = os.environ.get("TENKLOG_HOME")
    if named:
        return Path(named)
    user = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or user / "AppData" / "Local") / "tenklog"
    if sys.platform == "darwin":
        return user / "Library" / "Application Support" / "tenklog"
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if os.path.isabs(data) else user / ".local" / "share") / "tenklog"


def is_id(game: str) -> bool:
    """Tell whether a game could be called so, and its file on every platform."""
    return 1 <= len(game) <= 64 and set(game) <= _SIGNS and game[0] != "-" and game not in _DEVICES


def check_id(game: str) -> str:
    """Return the id of a game; raise UsageError for what is none."""
    if not is_id(game):
        raise UsageError(f"{game[:80]!r} can't be the id of a game", "1 to 64 of a-z, 0-9 and -, such as friday-2")
    return game


def meant(game: str, ids: list[str]) -> list[str]:
    """Return which ids a GAME as typed can mean: itself, else all that begin so."""
    if game in ids:
        return [game]
    return [one for one in ids if one.startswith(game)] if game else []


class Home(Struct, frozen=True):
    """A folder with `games/`, `archive/`, and `current`, the id of the game in use.

    Of one's own there may be `rules/` (rulesets), `queries/` (reports) and `people.toml` (who is who).
    """

    folder: Path

    @property
    def games_folder(self) -> Path:
        """Return where the logs lie."""
        return self.folder / "games"

    @property
    def rules(self) -> Path:
        """Return where rulesets of one's own lie."""
        return self.folder / "rules"

    @property
    def archive(self) -> Path:
        """Return where the archive lies."""
        return self.folder / "archive"

    @property
    def queries(self) -> Path:
        """Return where reports of one's own lie."""
        return self.folder / "queries"

    @property
    def people(self) -> Path:
        """Return the file that says who is who."""
        return self.folder / "people.toml"

    def ids(self) -> list[str]:
        """Return the ids of all games, ascending."""
        try:
            names = os.listdir(self.games_folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise AccessError(str(error.strerror), "a folder that can be read", str(self.games_folder)) from None
        stems = (name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl"))
        return sorted(stem for stem in stems if is_id(stem))

    def games(self) -> list[Path]:
        """Return the paths of all games, by id."""
        return [self.path(game) for game in self.ids()]

    def path(self, game: str) -> Path:
        """Return where the log of an id lies or would lie; raise UsageError for what is no id."""
        return self.games_folder / f"{check_id(game)}.jsonl"

    def find(self, game: str) -> Path:
        """Return the path of a GAME as typed: an id, a unique beginning of one, a path or `-` for standard input.

        Whatever has a slash in it or ends in .jsonl is a path. Raise UsageError that names the candidates.
        """
        if game == "-" or game.endswith(".jsonl") or "/" in game or os.sep in game:
            return Path(game)
        ids = self.ids()
        fitting = meant(game, ids)
        if len(fitting) == 1:
            return self.path(fitting[0])
        if fitting:
            more = f" and {len(fitting) - 6} more" if len(fitting) > 6 else ""
            raise UsageError(f"{game!r} begins {len(fitting)} ids", f"one of {', '.join(fitting[:6])}{more}")
        known = nearest(game, ids) if 0 < len(ids) <= 12 else "see `tenklog games`"
        raise UsageError(f"there is no game {game[:80]!r}", known if ids else "begin one with `tenklog new PLAYER...`")

    def new_id(self, game: str | None = None, key: str | None = None) -> str:
        """Return the id for a new game: the one asked for, one that a key always gives, or today's date and letters."""
        if game is not None:
            return check_id(game)
        if key is not None:
            from hashlib import blake2b

            return "game-" + blake2b(key.encode(), digest_size=6).hexdigest()
        from datetime import date

        taken = self.ids()
        while True:
            letters = "".join(_CONSONANTS[byte % len(_CONSONANTS)] for byte in os.urandom(4))
            if (found := f"{date.today().isoformat()}-{letters}") not in taken:
                return found

    def current_id(self) -> str | None:
        """Return the id of the game in use; None when there is none."""
        try:
            current = self.folder / "current"
            with files.telling(current), files.opened(current, files.READ) as fd:
                game = files.read(fd)[:100].decode("ascii", "replace").strip()
        except AccessError:
            return None
        return game if is_id(game) else None

    def current(self) -> Path:
        """Return the path of the game in use; raise UsageError when there is none."""
        game = self.current_id()
        if game is None:
            raise UsageError("no game is in use", "name one with -g GAME, or begin one with `tenklog new PLAYER...`")
        if not files.exists(self.path(game)):
            raise UsageError(f"the game in use, {game}, is not there any more", "choose one with `tenklog use GAME`")
        return self.path(game)

    def use(self, game: str) -> None:
        """Make a game the one in use."""
        current = self.folder / "current"
        with files.telling(current, "a folder that can be written to"):
            files.make_folder(self.folder)
            files.put(current, check_id(game).encode() + b"\n")
