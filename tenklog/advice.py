"""Advice: this module says what each legal move of a position is worth in points, and which of them is best.

Beyond the turn it knows what ends the game: in last turns points count that catch the leader, and a bank that wins the
game at once is best. Opponents are left out; who wants the chance to win asks for a simulation.
"""

from typing import Literal

from msgspec import Struct

from tenklog import events, state
from tenklog.chances import Chances, Choice, Node, node, thrown
from tenklog.dice import Dice, write
from tenklog.policy import Policy, best_policy
from tenklog.state import Position, Turn, with_turn
from tenklog.turns import play

Move = Literal["keep", "roll", "bank", "steal"]


class Option(Struct, frozen=True):
    """A legal move. `points` and `dice_left` are those of the turn after it, `value` the expected points of the turn.

    `rolling` is the value of the next throw after it and `bust` its chance to lose the turn, `banking` what a bank
    after it posts: null where that is illegal; `wins` tells that this bank wins the game at once. With the goal `win`,
    `win` is the estimated chance to win the game and `error` its standard error.
    """

    move: Move
    dice: Dice | None
    points: int
    dice_left: int | None
    value: float
    rolling: float | None
    banking: int | None
    bust: float | None
    best: bool
    wins: bool = False
    win: float | None = None
    error: float | None = None


class Advice(Struct, frozen=True):
    """The legal moves of a turn, the best first; `game` and `player` are null for dice without a game.

    `roll` is what lies on the table and `points` what the turn holds; `goal` says by what the best move is the best.
    """

    game: str | None
    rules: str
    player: str | None
    phase: state.Phase
    points: int
    roll: Dice | None
    goal: Literal["points", "win"]
    options: list[Option]
    notes: list[str]


def needed(position: Position, turn: Turn) -> int:
    """Return how many points a last turn needs to draw level with the leader; 0 before last turns."""
    if position.due is None:
        return 0
    others = [one.total for number, one in enumerate(position.seats) if number != turn.seat and not one.left]
    return max(0, max(others, default=0) - position.seats[turn.seat].total)


def policy_of(position: Position, turn: Turn) -> Policy:
    """Return the best policy for a turn in progress, as it stands in the game."""
    at = None
    if turn.phase in ("to-roll", "kept") and turn.begun:
        at = node(position.rules, turn)
    elif turn.phase == "rolled":
        at = thrown(position.rules, turn)
    return best_policy(position, at, turn.points, needed(position, turn))


def wins_now(position: Position, turn: Turn) -> bool:
    """Tell whether to bank now ends the game with a win of one's own."""
    total = position.seats[turn.seat].total + turn.points
    if position.due is None and total < position.rules.target:
        return False
    if position.due is not None and (len(position.due) > 1 or turn.points < needed(position, turn)):
        return False  # others are still to come, or are ahead
    if state.bank_ban(position, turn)[0]:
        return False
    after = play(with_turn(position, turn), events.Bank(1, player=position.seats[turn.seat].player, points=turn.points))
    return after.turn is None and after.winners == (turn.seat,)


def best_keep(position: Position, turn: Turn) -> Choice:
    """Return the best keep of the roll on the table."""
    choices = Chances.of(position.table).choices(turn)
    if len(choices) == 1:
        return choices[0]
    winning = [one for one in choices if wins_after(position, turn, one)]
    if winning:
        return max(winning, key=lambda one: (one.points, len(one.dice)))
    return policy_of(position, turn).best(turn.points, choices)


def wins_after(position: Position, turn: Turn, choice: Choice) -> bool:
    """Tell whether to keep these dice and bank would end the game with a win of one's own."""
    if position.due is None and position.seats[turn.seat].total + turn.points + choice.points < position.rules.target:
        return False
    return wins_now(position, choice.after.turn(turn.seat, turn.points + choice.points))


def best_is_to_bank(position: Position, turn: Turn) -> bool:
    """Tell whether to bank is the best move of a turn that may bank or go on."""
    return wins_now(position, turn) or policy_of(position, turn).banks(turn.points, node(position.rules, turn))


def options(position: Position) -> list[Option]:
    """Return the legal moves of the turn in progress, the best first; none when the turn is lost or the game over."""
    turn = position.turn
    if turn is None or turn.phase == "busted":
        return []
    policy = policy_of(position, turn)
    if turn.phase == "rolled":
        choices = Chances.of(position.table).choices(turn)
        best = best_keep(position, turn)
        found = [
            _option(position, turn, policy, "keep", turn.points + one.points, one.after, one.dice, one == best)
            for one in choices
        ]
    else:
        at = node(position.rules, turn)
        moves = [move for move in state.legal(position) if move in ("roll", "bank", "steal")]
        if not turn.with_dice:
            moves.remove("bank")  # of a score sheet
        values = {"roll": policy.rolling(turn.points, at)} if "roll" in moves else {}
        if "bank" in moves:
            values["bank"] = float(policy.banking(turn.points, at) or 0)
        best_move = max(values, key=lambda move: (round(values[move], 7), move == "bank"), default="bank")
        if "bank" in moves and wins_now(position, turn):
            best_move = "bank"
        found = []
        stolen = None
        if "steal" in moves:
            stolen = play(position, events.Steal(1, player=position.seats[turn.seat].player)).turn
            assert stolen is not None
            there = node(position.rules, stolen)
            theirs = best_policy(position, there, stolen.points, needed(position, turn))
            if theirs.rolling(stolen.points, there) > values.get("roll", 0.0):
                best_move = "steal"
            found.append(_option(position, stolen, theirs, "steal", stolen.points, there, None, best_move == "steal"))
        if "roll" in moves:
            found.append(_option(position, turn, policy, "roll", turn.points, at, None, best_move == "roll"))
        if "bank" in moves:
            posted = state.worth_banking(position, turn, turn.points)[0]
            wins = wins_now(position, turn)
            found.append(
                Option("bank", None, turn.points, None, float(posted), None, posted, None, best_move == "bank", wins)
            )
    return sorted(found, key=lambda one: (not one.best, -one.value, -one.points))


def _option(
    position: Position, turn: Turn, policy: Policy, move: Move, points: int, at: Node, dice: Dice | None, best: bool
) -> Option:
    after = at.turn(turn.seat, points)
    there = with_turn(position, after)
    throw = Chances.of(position.table).throw(at)
    may_roll = not state.must_bank(there, after)
    may_bank = move == "keep" and not state.bank_ban(there, after)[0]
    rolling = policy.rolling(points, at)
    return Option(
        move=move,
        dice=dice,
        points=points,
        dice_left=at.dice_left,
        value=policy.value(points, at) if move == "keep" else rolling,
        rolling=rolling if may_roll else None,
        banking=state.worth_banking(there, after, points)[0] if may_bank else None,
        bust=throw.lost / throw.total if may_roll else None,
        best=best,
        wins=may_bank and wins_now(there, after),
    )


def phrase(option: Option) -> str:
    """Say in a few words what to do: the move, and after a keep whether to go on."""
    banks = f"bank {option.points}" + (", which wins" if option.wins else "")
    if option.move == "keep":
        after = ""
        if option.rolling is not None or option.banking is not None:
            further = option.rolling is not None and option.value > (option.banking or 0) + 1e-9
            on = option.banking is None or (further and not option.wins)
            after = f", then roll {option.dice_left} dice" if on else f", then {banks}"
        return f"keep {write(option.dice or ())}{after}".replace("roll 1 dice", "roll 1 die")
    return {"roll": "roll on", "bank": banks, "steal": "steal the dice"}[option.move]
