"""Projections: this module derives from a folded game what people and scripts look at: standings, sheet, timeline.

Each projection is a struct with a schema; nothing here judges a move or reads a file. Fields may come, none goes.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, json
from msgspec.structs import asdict

from tenklog import events, rules, state
from tenklog.dice import write
from tenklog.game import Game, tag
from tenklog.state import Position, Seat

STANDING = ("place", "player", "total", "to_go", "opened", "turns", "busts", "left")


class Standing(Struct, frozen=True):
    """A player's place (equals share it), seat (from 1), total and points to go (0 once the target is reached)."""

    place: int
    player: str
    seat: int
    total: int
    to_go: int
    opened: bool
    turns: int
    busts: int
    left: bool


class TurnView(Struct, frozen=True):
    """The turn in progress: points at stake, dice to be thrown next, rolls so far, what is legal now."""

    player: str
    points: int
    dice_left: int
    rolls: int
    phase: state.Phase
    legal: list[str]
    stolen: bool
    challenge: str | None


class Show(Struct, frozen=True):
    """How a game stands. `due` lists who still has a last or extra turn, in order."""

    game: str
    title: str | None
    rules: str
    status: state.Status
    round: int
    to_play: str | None
    due: list[str]
    winners: list[str]
    standings: list[Standing]
    turn: TurnView | None


class Entry(Struct, frozen=True):
    """One turn on the sheet: `posted` is the change of the own total by it, penalties included."""

    player: str
    posted: int
    total: int
    outcome: state.Outcome


class Round(Struct, frozen=True):
    """The turns of one round, in the order in which they ended."""

    round: int
    entries: list[Entry]


class Sheet(Struct, frozen=True):
    """The score sheet by rounds."""

    game: str
    rules: str
    players: list[str]
    rounds: list[Round]


class Record(Struct, frozen=True):
    """What a recording command wrote, and how the game stands after it."""

    game: str
    seq: int
    h: str
    events: list[events.AnyEvent]
    show: Show


class Whole(Struct, frozen=True):
    """A whole game: how it stands, its sheet, and every event."""

    game: str
    fingerprint: str
    show: Show
    sheet: Sheet
    events: list[events.AnyEvent]


class Export(Struct, frozen=True):
    """Whole games."""

    games: list[Whole]


class EventRow(Struct, frozen=True):
    """One line of the log for people. `standing` is false for what was taken back (and for the undo itself)."""

    seq: int
    time: str | None
    type: str
    player: str | None
    text: str
    standing: bool


class GameRow(Struct, frozen=True):
    """One line of the list of games. `time` is that of the first event; `leaders` have the highest total, or won."""

    game: str
    title: str | None
    rules: str
    players: list[str]
    status: state.Status
    round: int
    leaders: list[str]
    time: str | None
    current: bool


def game_row(game: Game, current: str | None) -> GameRow:
    """Return a game's line in the list; `current` is the id of the current game."""
    position, start = game.position, game.start
    first = [one.player for one in standings(position) if one.place == 1]
    return GameRow(
        game=start.game,
        title=start.title,
        rules=start.rules.name,
        players=names(position, range(len(position.seats))),
        status=position.status,
        round=position.round,
        leaders=names(position, position.winners) or first,
        time=start.time,
        current=start.game == current,
    )


class PlayerRow(Struct, frozen=True):
    """Who is who: a person, the names of that person in logs, games, and when the last one began."""

    person: str
    names: list[str]
    games: int
    last: str | None


def players(games: Iterable[GameRow], people: Mapping[str, str]) -> list[PlayerRow]:
    """Return everybody who plays in some games, those who play most first; `people` maps spellings to persons."""
    found: dict[str, tuple[set[str], set[str], list[str]]] = {}
    for game in games:
        for player in game.players:
            spellings, ids, times = found.setdefault(people.get(player, player), (set(), set(), []))
            spellings.add(player)
            ids.add(game.game)
            times += [game.time] if game.time is not None else []
    rows = [
        PlayerRow(person, sorted(spellings), len(ids), max(times, default=None))
        for person, (spellings, ids, times) in found.items()
    ]
    return sorted(rows, key=lambda one: (-one.games, one.person))


def to_go(position: Position, seat: Seat) -> int:
    """Return how many points a player's total still needs to have reached the target."""
    target = position.rules.target + (position.rules.reach == "more-than")
    return max(0, target - seat.total)


def standings(position: Position) -> list[Standing]:
    """Return the standings, best first; equals in order of seats, and below all in play those who left."""
    order = sorted(enumerate(position.seats), key=lambda one: (one[1].left, -one[1].total, one[0]))
    rows: list[Standing] = []
    for rank, (number, seat) in enumerate(order, 1):
        above = rows[-1] if rows else None
        place = above.place if above and (above.total, above.left) == (seat.total, seat.left) else rank
        rows.append(
            Standing(
                place=place,
                player=seat.player,
                seat=number + 1,
                total=seat.total,
                to_go=to_go(position, seat),
                opened=seat.opened,
                turns=seat.turns,
                busts=seat.busts,
                left=seat.left,
            )
        )
    return rows


def names(position: Position, seats: Iterable[int]) -> list[str]:
    """Return the present names of some seats."""
    return [position.seats[number].player for number in seats]


def turn_view(position: Position) -> TurnView | None:
    """Return the turn in progress, or None once the game is over."""
    turn = position.turn
    if turn is None:
        return None
    return TurnView(
        player=position.seats[turn.seat].player,
        points=turn.points,
        dice_left=turn.dice_left,
        rolls=turn.rolls,
        phase=turn.phase,
        legal=state.legal(position),
        stolen=turn.stolen,
        challenge=None if turn.challenge is None else position.seats[turn.challenge].player,
    )


def show(game: Game) -> Show:
    """Return how the game stands."""
    position = game.position
    turn = turn_view(position)
    return Show(
        game=game.start.game,
        title=game.start.title,
        rules=game.start.rules.name,
        status=position.status,
        round=position.round,
        to_play=turn.player if turn else None,
        due=names(position, position.due or ()),
        winners=names(position, position.winners),
        standings=standings(position),
        turn=turn,
    )


def sheet(game: Game) -> Sheet:
    """Return the score sheet by rounds, with running totals."""
    position = game.position
    rounds: list[Round] = []
    for ended in position.turns():
        if not rounds or rounds[-1].round != ended.round:
            rounds.append(Round(ended.round, []))
        player = position.seats[ended.turn.seat].player
        rounds[-1].entries.append(Entry(player, ended.change, ended.total, ended.outcome))
    return Sheet(game.start.game, game.start.rules.name, names(position, range(len(position.seats))), rounds)


def running(document: Sheet) -> list[list[int]]:
    """Return for each player of a sheet, in order of seats, the total at the start and after every round."""
    found = []
    for player in document.players:
        totals = [0]
        for one in document.rounds:
            ended = [entry.total for entry in one.entries if entry.player == player]
            totals.append(ended[-1] if ended else totals[-1])
        found.append(totals)
    return found


def event_rows(log: Iterable[events.AnyEvent], game: Game) -> list[EventRow]:
    """Return every event of a log in words, those of the folded game marked as standing."""
    still = {node.event.seq for node in game.standing() if node.event is not None}
    rows = []
    for event in log:
        holds = event.seq in still or isinstance(event, events.Start | events.Note | events.Expect)
        player = getattr(event, "player", None)
        rows.append(EventRow(event.seq, event.time, tag(event), player, words(event), holds))
    return rows


def words(event: events.Event) -> str:
    """Say in a few words what an event adds to its type and player."""
    match event:
        case events.Start():
            return f"{', '.join(event.players)} by {event.rules.name}" + (f": {event.title}" if event.title else "")
        case events.Roll():
            return write(event.dice) + (" (thrown by tenklog)" if event.thrown_by else "")
        case events.Keep():
            return write(event.dice) + (f", {write(event.aside)} aside" if event.aside else "")
        case events.Bank():
            return f"{event.points}" + (" (settled)" if event.settled else "")
        case events.RuleChange():
            changes = " ".join(f"{key}={rules.shown(value)}" for key, value in event.changes.items())
            return changes + (" for the whole game" if event.scope == "whole-game" else " from the next turn")
        case events.Challenge():
            return event.opponent
        case events.Undo():
            return f"takes back {event.of}" + (f": {event.why}" if event.why else "")
        case events.Expect():
            return " ".join(f"{player}={total}" for player, total in event.totals.items())
        case events.Rename():
            return event.to
        case events.Note():
            return event.text
        case events.Abandon():
            return event.why or ""
        case _:
            return ""


def record(game: Game, h: str, written: Iterable[events.AnyEvent]) -> Record:
    """Return the answer of a recording command."""
    return Record(game.start.game, game.seq, h, list(written), show(game))


def row(struct: Struct) -> dict[str, object]:
    """Return a flat struct as a table row."""
    return asdict(struct)


def plain_json(event: events.Event) -> object:
    """Return an event as plain JSON values."""
    return json.decode(events.encode(event))
