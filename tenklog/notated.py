"""Notated: this module reads games that a person wrote in the notation; it touches no file and restates no rule.

Each entry is judged by the fold as it is read, so an error has the line and column (both from 1) of the entry that it
is about, and shows what would be right there. Nothing is implied but what follows from the entries before it, and
nothing is repaired.
"""

from functools import cache
from typing import Any

from tenklog import dice, events, state
from tenklog.errors import DataError, TenklogError, UsageError, nearest
from tenklog.events import AnyEvent
from tenklog.game import Game, evolve
from tenklog.headings import Find, Heading
from tenklog.lines import MOST_EVENTS, MOST_LINE
from tenklog.notation import EXAMPLES, HEADING, KEYWORD, MOVES, TABLE, Found
from tenklog.notation import name as written
from tenklog.pieces import WORD, Line
from tenklog.reading import MOST_WHOLE_GAME
from tenklog.rulebook import preset
from tenklog.rules import Ruleset
from tenklog.scoring import best_keep


def read(text: str, where: str, *, find: Find = preset, rules: Ruleset | None = None) -> list[Found]:
    """Read the games of a text; raise DataError for the first thing that is wrong, at `where`:LINE:COLUMN.

    `find` knows rulesets by name; `rules` are those of a game that names none.
    """
    reader = _Reader(cache(find), rules)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        reader.read(Line(where, number, line.removesuffix("\r")))
    reader.end()
    if not reader.found:
        raise DataError("holds no game", f"a heading, such as `{HEADING['players']}`, and turns", f"{where}:1:1")
    return reader.found


class _Reader:
    """Reads lines, one game after another."""

    def __init__(self, find: Find, rules: Ruleset | None) -> None:
        self.find = find
        self.rules = rules
        self.found: list[Found] = []
        self.reset()

    def reset(self) -> None:
        self.heading = Heading()
        self.game: Game | None = None
        self.log: list[AnyEvent] = []
        self.places: list[str] = []
        self.rolled = ""  # where the last roll stands
        self.whole_game = 0

    def end(self) -> None:
        """Finish the game that was read."""
        if self.heading.said:
            self.begin()
            self.found.append(Found(self.log, self.places, self.heading.said.get("game")))
            self.reset()

    def read(self, line: Line) -> None:
        if len(line.text) > MOST_LINE:
            raise line.error(f"a line of {len(line.text)} characters", f"at most {MOST_LINE}; a turn may take several")
        if line.done():
            return
        at = line.at
        found = KEYWORD.match(line.text, at)
        if found is None:
            self.turn(line)
            return
        word = found[1].lower().replace(" ", "_")
        line.example = EXAMPLES[word]
        line.at = found.end()
        colon = line.sign(":")
        if word in HEADING:
            self.head(word, line, at)
            return
        line.done()
        if colon:
            self.refuse_turn(word, line, at)
        if not self.heading.said:
            raise line.error("no game has begun here", f"a heading first: `{HEADING['players']}`", at)
        _TABLE[word](self, line, at, self.begin())
        line.end()

    def head(self, word: str, line: Line, at: int) -> None:
        if word == "game" or (word == "players" and "players" in self.heading.said):
            self.end()
        if self.game is not None:
            line.example = TABLE["change"] if word == "rules" else HEADING["game"]
            change = "in a game rules change so" if word == "rules" else "a new game begins with game or players"
            raise line.error(f"{word} stands in the heading, before the first turn", change, at)
        self.heading.read(word, line, at, self.find)

    def refuse_turn(self, word: str, line: Line, at: int) -> None:
        """Raise when a line of free text may be meant as a turn of somebody who is called Note."""
        if word not in ("note", "undo", "abandon") or not MOVES.match(line.text, line.at):
            return
        called = [one for one in self.players() if one.casefold() == word]
        if called:
            line.example = f'"{called[0]}": {line.text[line.at :][:20]}'
            right = f"the {word} in quotes, or the player"
            raise line.error(f"{called[0]} is a player, and the word for a line of its own", right, at)

    def players(self) -> list[str]:
        """Return who sits at the table."""
        if self.game is None:
            return [*self.heading.said.get("players", ())]
        return [seat.player for seat in self.game.position.seats]

    def begin(self) -> Game:
        """Return the game so far; begin it when this is its first event."""
        if self.game is None:
            start = events.normal(self.heading.start(self.rules))
            places = self.heading.places
            try:
                self.game = evolve(None, start)
            except TenklogError as error:
                # Each line was right by itself; what remains is who threw for the first turn.
                right = f"{error.right}, such as `{HEADING['first_throw']}`"
                raise DataError(error.what, right, places.get("first_throw", places["players"])) from None
            self.log.append(start)
            self.places.append(places["players"])
        return self.game

    def add(self, line: Line, at: int, kind: type[events.Event], **fields: Any) -> None:
        """Add an event, if the fold takes it; raise DataError at the place that is to blame."""
        game = self.begin()
        self.whole_game += fields.get("scope") == "whole-game"
        if game.seq == MOST_EVENTS:
            raise DataError(f"the game has {MOST_EVENTS} events", "no more than that", line.place(at))
        if self.whole_game > MOST_WHOLE_GAME:
            most = f"at most {MOST_WHOLE_GAME}"
            raise DataError("one rule change for the whole game too many", most, line.place(at))
        try:
            event = events.normal(kind(game.seq + 1, **fields))
            self.game = evolve(game, event)
        except TenklogError as error:
            line.example = _example(game.position, kind)
            made = line.error(error.what, error.right, at)
            turn = game.position.turn
            if turn is not None and turn.phase == "busted":
                made.where = self.rolled
            elif turn is not None and kind in _MOVES and fields["player"] != game.position.seats[turn.seat].player:
                made.where = line.place(len(line.text) - len(line.text.lstrip()))
            raise made from None
        self.log.append(event)
        self.places.append(line.place(at))

    def called(self, name: str, quoted: bool) -> str:
        """Return the player whom a name means: the one of that name, else who is called so but for capitals."""
        players = self.players()
        try:
            composed = events.name(name)
        except UsageError:
            return name  # which is nobody's
        if composed in players:
            return composed
        alike = [one for one in players if _alike(one) == _alike(composed)]
        return alike[0] if len(alike) == 1 and not quoted else name

    def near(self, line: Line, name: str, right: str) -> str:
        """Phrase which player or word a name was likely meant to be, or else what would be right."""
        known = {one.lower(): one for one in (*EXAMPLES, *self.players())}
        close = nearest(name.lower(), list(known))
        word = close.removeprefix("did you mean ").removesuffix("?")
        if word not in known:
            return right
        turn = f"{written(known[word])}: {line.text[line.at :].strip()[:30] or '=600'}"
        line.example = EXAMPLES.get(word, turn)
        return f"did you mean {known[word]}?"

    # -- turns --------------------------------------------------------------------------------------------------------

    def turn(self, line: Line) -> None:
        begin = line.at
        name, quoted = line.name(":/=!*(")
        if not line.sign(":"):
            right = self.near(line, name, "the name of who rolls, a colon, and the rolls")
            raise line.error(f"{name[:20]!r} is followed by no colon", right, begin)
        if not self.heading.said:
            line.example = HEADING["players"]
            raise line.error("no game has begun here", self.near(line, name, "a heading first"), begin)
        player = self.called(name, quoted)
        if player not in self.players():
            close = self.near(line, name, "")
            if not close:
                line.example = _example(self.begin().position)
            raise line.error(f"there is no player {name}", close or f"one of {', '.join(self.players())}", begin)
        if line.done():
            line.example = _example(self.begin().position)
            raise line.error("a turn with nothing in it", "dice or points, or ! for a bust", begin)
        ended = False
        while not line.done():
            if ended:
                raise line.error("the turn has ended before this", "one turn a line")
            ended = self.entry(line, player)

    def entry(self, line: Line, player: str) -> bool:
        """Read one entry of a turn; tell whether the turn ends with it."""
        at = line.at
        if line.sign("!"):
            self.add(line, at, events.Bust, player=player)
            return True
        if line.sign("="):
            self.bank(line, at, player)
            return True
        if line.sign("/"):
            self.keep(line, at, player)
        elif line.text[at].isalpha():
            self.word(line, at, player)
        else:
            thrown = line.faces()
            thrown_by = "tenklog" if line.text.startswith("*", line.at) else None
            line.at += thrown_by is not None
            self.add(line, at, events.Roll, player=player, dice=thrown, thrown_by=thrown_by)
            self.rolled = line.place(at)
        return False

    def keep(self, line: Line, at: int, player: str) -> None:
        """Read a keep after its `/`; which dice leave the table need not be said."""
        kept = line.faces()
        aside = None
        position = self.begin().position
        if line.sign("("):
            aside = line.faces()
            if not line.sign(")"):
                line.example = "123456/123456(6)"
                raise line.error("a bracket is not closed", "the dice that leave the table in brackets")
        elif position.turn is not None and tuple(sorted(kept)) in state.keeps(position, position.turn):
            aside = position.table.aside(tuple(sorted(kept)))
        self.add(line, at, events.Keep, player=player, dice=kept, aside=aside)

    def bank(self, line: Line, at: int, player: str) -> None:
        """Read a bank after its `=`: its points, `settled`, or nothing where the dice say them."""
        turn = self.begin().position.turn
        if line.done():
            if turn is not None and not turn.with_dice:
                line.example = f"{written(player)}: =600"
                raise line.error("no dice were rolled in this turn", "the points that it is worth, or ! for a bust", at)
            self.add(line, at, events.Bank, player=player, points=turn.points if turn else 0)
        elif line.text[line.at :].split(maxsplit=1)[0].lower() == "settled":
            line.take(WORD)
            self.add(line, at, events.Bank, player=player, points=0, settled=True)
        else:
            self.add(line, at, events.Bank, player=player, points=line.whole("points"))

    def word(self, line: Line, at: int, player: str) -> None:
        """Read `steal` or `challenge NAME`."""
        word = line.take(WORD)
        if word.lower() == "steal":
            self.add(line, at, events.Steal, player=player)
        elif word.lower() == "challenge":
            name = line.quoted()
            opponent = self.called(line.take(WORD) if name is None else name, name is not None)
            if not opponent:
                raise line.error("nobody is challenged", "`challenge Ben`")
            self.add(line, at, events.Challenge, player=player, opponent=opponent)
        else:
            right = "dice for a roll, /1 for a keep, = a bank, ! a bust, steal, challenge NAME"
            raise line.error(f"{word[:20]!r} is no part of a turn", right, at)

    # -- lines that are no turn ---------------------------------------------------------------------------------------

    def note(self, line: Line, at: int, game: Game) -> None:
        self.add(line, at, events.Note, text=line.free_text("note"))

    def undo(self, line: Line, at: int, game: Game) -> None:
        why = None if line.done() else line.free_text("reason")
        self.add(line, at, events.Undo, of=game.event.seq if game.event else 1, why=why)

    def abandon(self, line: Line, at: int, game: Game) -> None:
        self.add(line, at, events.Abandon, why=None if line.done() else line.free_text("reason"))

    def change(self, line: Line, at: int, game: Game) -> None:
        changes, said = line.settings(game.position.pending or game.position.rules, ("whole-game",))
        if not changes or "name" in changes:
            raise line.error("no rule is changed", "KEY=VALUE", at)
        self.add(line, at, events.RuleChange, changes=changes, scope="whole-game" if said else "next-turn")

    def expect(self, line: Line, at: int, game: Game) -> None:
        found = [(self.called(name, quoted), total) for name, quoted, total in line.amounts(lambda: _total(line))]
        if len(dict(found)) < len(found):
            raise line.error("a player stands twice", "once", at)
        self.add(line, at, events.Expect, totals=dict(found))

    def join(self, line: Line, at: int, game: Game) -> None:
        self.add(line, at, events.Join, player=line.new_name())

    def leave(self, line: Line, at: int, game: Game) -> None:
        self.add(line, at, events.Leave, player=self.called(*line.name()))

    def rename(self, line: Line, at: int, game: Game) -> None:
        name, quoted = line.name(">")
        if not quoted:  # the hyphen of the arrow was taken for one of the name
            line.at -= line.text[: line.at].endswith("-")
            name = name.removesuffix("-").rstrip()
        if not line.sign("->"):
            raise line.error("no new name is given")
        self.add(line, at, events.Rename, player=self.called(name, quoted), to=line.new_name())


_TABLE = {
    "note": _Reader.note, "undo": _Reader.undo, "change": _Reader.change, "expect": _Reader.expect,
    "join": _Reader.join, "leave": _Reader.leave, "rename": _Reader.rename, "abandon": _Reader.abandon,
}  # fmt: skip
_MOVES = (events.Roll, events.Keep, events.Bank, events.Bust, events.Steal, events.Challenge)


def _alike(name: str) -> str:
    return " ".join(name.casefold().split())


def _total(line: Line) -> int:
    return line.whole("points", -1)


def _example(position: state.Position, refused: type[events.Event] = events.Roll) -> str:
    """Return a line that would be legal here, of the kind that was refused if there is one."""
    turn = position.turn
    if turn is None:
        return TABLE["note"]
    player = written(position.seats[turn.seat].player)
    moves = state.legal(position)
    if turn.phase == "busted":
        return f"{player}: {dice.write(turn.roll, '')}!"
    if turn.phase == "rolled":
        keep = best_keep(state.keeps(position, turn)).dice
        return f"{player}: {dice.write(turn.roll, '')}/{dice.write(keep, '')}"
    if "roll" in moves and (refused is events.Roll or "bank" not in moves):
        return f"{player}: {'133446'[: turn.dice_left]}"
    if refused is events.Bust and "bust" in moves:
        return f"{player}: !"
    return f"{player}: ={turn.points if turn.with_dice else 600}"
