"""Play: this module understands what is typed at the prompt of `play`, and answers questions about the game there.

It knows no terminal and records nothing. An entry becomes the command line that one would type for it, so nothing is
played here that the single commands would not play; legality is theirs to judge.
"""

import re
import shlex
from collections.abc import Sequence

from tenklog import events, state
from tenklog.decider import Bank, Bust, Challenge, Command, Keep, Roll, Steal, draft
from tenklog.dice import write
from tenklog.errors import TenklogError, UsageError
from tenklog.game import Game, tag
from tenklog.projections import words
from tenklog.render import grid, visible
from tenklog.state import Position

_LETTERS = {
    "a": "keep all",
    "b": "bank",
    "c": "challenge",
    "f": "fix",
    "n": "note",
    "o": "advise",
    "q": "quit",
    "s": "steal",
    "t": "throw",
    "u": "undo",
    "x": "bust",
}
_ENTRY = re.compile(r"([A-Za-z])(?:\s+(.*)|([0-9].*))?", re.DOTALL)

_KEYS = (
    ("133446", "the dice that were rolled, or those to keep"),
    ("1115/15", "keep 1115, of which 1 and 5 leave the table (one-per-combination)"),
    ("a", "keep all that score"),
    ("b", "bank the turn; without dice with its points: b 350"),
    ("x", "bust, in a turn without dice"),
    ("t", "tenklog throws the dice"),
    ("s, c Ben", "steal the dice; challenge Ben"),
    ("u", "take back the last move, and the one before with another u"),
    ("f", "list what can be corrected; f 7 22235 corrects event 7"),
    ("n TEXT", "write a remark into the log"),
    ("o", "odds: what each move is worth"),
    ("?", "what each keep is worth, and why what is not allowed is not"),
    ("? 115", "what an entry would do, or why it is not allowed; ?? is this list"),
    ("q", "leave; the game is kept as it stands"),
    ("leave Ben", "and whatever else tenklog can do: sheet, change target=5000, --help"),
)


# -- what is typed ----------------------------------------------------------------------------------------------------


def meaning(position: Position | None, typed: str, totals: bool = False) -> list[str]:
    """Return the command line that an entry stands for, or one of play's own words; empty for no entry.

    Its own are `help` (and about which line), `keys`, `fixes` and `quit`.

    With `totals` a number is the points of a turn without dice. Raise UsageError for what is no entry.
    """
    text = typed.strip()
    if text.startswith("?"):
        about = text.lstrip("? ")
        if not about:
            return ["help"] if text == "?" else ["keys"]
        return ["help", *meaning(position, about, totals)]
    if not text:
        return []
    if text[0].isdigit():
        return _digits(position, text, totals)
    entry = _ENTRY.fullmatch(text)
    if entry is not None:
        rest = (entry[2] or entry[3] or "").strip()
        return _letter(position, entry[1].lower(), rest)
    try:
        line = shlex.split(text)
    except ValueError:  # an apostrophe: don't
        line = text.split()
    if line[0] == "tenklog":
        line = line[1:] or ["--help"]
    line[0] = {"exit": "quit", "help": "keys"}.get(line[0], line[0])
    if len(line[0]) == 1:
        raise UsageError(f"{text[:40]!r} is no entry", "? lists what can be typed")
    return line


def _digits(position: Position | None, text: str, totals: bool) -> list[str]:
    turn = position.turn if position is not None else None
    if turn is not None and turn.phase == "rolled":
        return _with_aside(["keep"], text)
    if turn is None or turn.with_dice:
        return ["roll", text]
    if totals:
        return ["bank", text]
    wrong = next((sign for sign in text if sign not in "123456, "), None)
    if wrong is not None:
        right = "dice are digits 1 to 6, such as 133446; points of a turn without dice are typed b 350"
        raise UsageError(f"{wrong!r} is no die", right)
    return ["roll", text]


def _with_aside(line: list[str], text: str) -> list[str]:
    """Add dice to a command line; behind a slash, those that leave the table."""
    dice, slash, aside = text.partition("/")
    return [*line, dice.strip(), *(["--aside", aside.strip()] if slash else [])]


def _letter(position: Position | None, letter: str, rest: str) -> list[str]:
    if letter not in _LETTERS:
        raise UsageError(f"{letter!r} is no entry", "? lists what can be typed")
    line = _LETTERS[letter].split()
    if letter in "aoqstx":
        if rest:
            raise UsageError(f"{letter} takes nothing after it", f"{letter} alone")
        return line
    if letter == "b":
        return [*line, *rest.split()]
    if letter == "u":
        return [*line, *(["--why", rest] if rest else [])]
    if letter == "n":
        if not rest:
            raise UsageError("n needs the text of the remark", "such as: n the die fell off the table")
        return [*line, "--", rest]
    if letter == "c":
        return [*line, "--", rest or _only_opponent(position)]
    if not rest:
        return ["fixes"]
    seq, _, value = rest.partition(" ")
    if not value.strip():
        raise UsageError(f"f {seq} gives no correction", f"dice or points, such as f {seq} 22235, or x for a bust")
    return [*line, seq, "bust"] if value.strip() in ("x", "bust") else _with_aside([*line, seq], value)


def _only_opponent(position: Position | None) -> str:
    turn = position.turn if position is not None else None
    names = state.opponents(position, turn) if position is not None and turn is not None else []
    if len(names) != 1:
        raise UsageError("c needs the opponent's name", f"such as c {names[0]}" if names else "such as c Ben")
    return names[0]


# -- what is said -----------------------------------------------------------------------------------------------------


def prompt(position: Position | None, totals: bool = False) -> str:
    """Return the words before the cursor: who is to do what."""
    if position is None:
        return "tenklog> "
    turn = position.turn
    if turn is None:
        return f"{position.status}> "
    moves = state.legal(position)
    if turn.phase == "to-roll" and not turn.with_dice:
        what = "points" if totals else "roll"
    else:
        what = " or ".join(move for move in moves if move in ("roll", "keep", "bank")) or "bust"
    return visible(f"{position.seats[turn.seat].player}, {what}> ")


def hint(position: Position | None, totals: bool = False, columns: int = 80) -> str:
    """Return what to type now in one line of less than so many columns, the rarer entries where there is room."""
    turn = position.turn if position is not None else None
    now = ["n note", "sheet", "new Anna Ben"]
    if position is not None and turn is not None:
        moves = state.legal(position)
        now = [f"{move[0]} {move}" for move in ("steal", "challenge") if move in moves]
        if "bank" in moves and turn.with_dice:
            now.insert(0, "b bank")
        if turn.phase == "rolled":
            now = ["1..6 keep", "a keep all"]
        elif totals and not turn.with_dice:
            now = ["350 points", "x bust", "roll 133446", *now]
        elif "roll" in moves:
            now = ["1..6 roll", "t throw", *now]
    always = ["u undo", "f fix", "o odds", "? why", "?? keys", "q quit"]
    for rare in ("o odds", "f fix", "q quit", "u undo", "? why"):
        if len("  ".join([*now, *always])) >= columns:
            always.remove(rare)
    return "  ".join([*now, *always])[: columns - 1]


def explanation(game: Game) -> list[str]:
    """Say what each keep of the roll is worth, and why what is not legal now is not."""
    lines = _keeps(game)
    whys = [f"  {move}: {why}" for move, why in refusals(game)]
    if whys:
        lines += ["Not allowed now:" if game.position.turn else "Not allowed any more:", *whys]
    return list(map(visible, [*lines, "?? lists what can be typed."]))


def keys() -> list[str]:
    """List what can be typed."""
    width = max(len(key) for key, _ in _KEYS)
    return [f"{key:<{width}}  {text}" for key, text in _KEYS]


def _keeps(game: Game, most: int = 10) -> list[str]:
    position = game.position
    turn = position.turn
    if turn is None or turn.phase != "rolled":
        return []
    legal = state.keeps(position, turn)
    ranked = sorted(legal, key=lambda dice: (-legal[dice], -len(dice), dice))
    rows, why = [], ""
    for dice in ranked[:most]:
        then = draft(game, Keep(dice)).game.position
        after = then.turn
        assert after is not None
        ban = state.bank_ban(then, after)[0]
        posted, zero = state.worth_banking(then, after, after.points)
        why = why or ban or zero
        left = "all" if state.is_hot(then, after) else after.dice_left
        rows.append([write(dice), *map(str, (legal[dice], after.points, left)), "no" if ban else str(posted)])
    table = grid(
        ["keep", "points", "in the turn", "dice left", "bank"], rows, [False, True, True, True, True], "table"
    ).rstrip("\n")
    more = [f"and {len(ranked) - most} more"] if len(ranked) > most else []
    return [f"{write(turn.roll)} is rolled.", "", *table.split("\n"), *more, *([f"Bank: {why}."] if why else []), ""]


def refusals(game: Game) -> list[tuple[str, str]]:
    """Return the moves that are not legal now, each with what it would be refused with.

    Moves that the rules do not have at all are left out.
    """
    position = game.position
    turn = position.turn
    rules = position.rules
    opponents = state.opponents(position, turn) if turn is not None else []
    tried: dict[str, Command | None] = {
        "roll": Roll((1,) * (turn.dice_left if turn is not None else rules.dice)),
        "keep": Keep("best"),
        "bank": Bank(None if turn is None or turn.with_dice else 0),
        "bust": Bust(),
        "steal": Steal() if rules.steal != "off" else None,
        "challenge": Challenge(opponents[0]) if rules.challenge_split and opponents else None,
    }
    found = []
    legal = state.legal(position)
    for move, command in tried.items():
        if command is not None and move not in legal:
            try:
                draft(game, command)
            except TenklogError as error:
                found.append((move, error.what))
    return found


def fixes(game: Game, most: int = 12) -> list[str]:
    """List the latest events that can be corrected, and how."""
    rows: list[list[str]] = []
    for node in game.standing():
        event, ended = node.event, node.position.ended
        without_dice = ended is not None and not ended.turn.with_dice
        if isinstance(event, events.Roll | events.Keep) or (
            isinstance(event, events.Bank | events.Bust) and without_dice
        ):
            what = f"{'points' if isinstance(event, events.Bank) else tag(event)} {words(event)}".rstrip()
            rows.append([str(event.seq), event.player, what])
    if not rows:
        return ["There is nothing to correct yet."]
    table = grid(["event", "player", "what"], rows[:most][::-1], [True, False, False], "table").rstrip("\n")
    how = "Correct one with f EVENT and its right dice or points, such as f 7 22235 or f 7 350."
    return [*table.split("\n"), *(["`events` lists those before them."] if len(rows) > most else []), how]


def odds(position: Position, most: int = 3) -> list[str]:
    """Say what the best moves are worth; nothing when there is nothing to decide."""
    turn = position.turn
    if turn is None or turn.phase == "busted":
        return []
    from tenklog.advice import options, phrase

    try:
        found = options(position)
    except TenklogError as error:
        return [f"No odds: {error.what}."]
    if turn.phase == "to-roll" and len(found) < 2:
        return []
    lines = []
    for option in found[:most]:
        bust = f", bust {option.bust:.1%}" if option.bust is not None else ""
        lines.append(f"{'*' if option.best else ' '} {phrase(option)}: {option.value:.1f}{bust}")
    return ["Expected points of the turn:", *lines]


def farewell(name: str, current: bool, game: Game) -> str:
    """Say how a game that is left can be gone on with; `name` is what `-g` takes."""
    if game.position.turn is None:
        return visible(f"{name} is {game.position.status}.")
    return visible(f"{name} is kept as it stands; `tenklog play{'' if current else f' -g {name}'}` goes on with it.")


def same_table(game: Game, players: Sequence[str]) -> bool:
    """Tell whether a game in progress is that of these players, in this order."""
    seats = [seat.player for seat in game.position.seats]
    return game.position.turn is not None and seats == list(players)


def typed_names(text: str) -> list[str]:
    """Read names as somebody types them: between commas, where there is one, else between blanks."""
    return [one.strip() for one in text.split(",") if one.strip()] if "," in text else text.split()


def hand_down(players: Sequence[str]) -> str:
    """Write names as `typed_names` reads them."""
    return ", ".join([*players, ""]).rstrip() if any(" " in one for one in players) else " ".join(players)
