"""Cards: this module lays a ruleset out for people: a rule card, score tables, explained scores."""

from collections.abc import Iterator

from msgspec import Struct

from tenklog import dice
from tenklog.dice import Dice
from tenklog.render import listing
from tenklog.rulebook import Card
from tenklog.rules import DEFAULTS, Combination, Ruleset, Value, is_off, shown
from tenklog.scoring import Part, Table, best_keep

# What each setting is about, in the order of a rule card.
MEANINGS = {
    "dice": "dice in a fresh throw",
    "opening_minimum": "points that a first turn must be worth to count",
    "bank_minimum": "points that every later turn must be worth to count",
    "must_beat_previous": "topping: a turn must be worth more than the turn before posted",
    "below_minimum": "zero: one may stop below a minimum and posts 0; roll-on: one may not stop",
    "hot_dice": "once all dice are set aside: free to throw them all again, forced to, or forced to bank",
    "set_aside": "what leaves the table: any scoring dice, all that can, or one die of each combination",
    "build_on_kept": "pyramiding: dice kept before count together with new ones",
    "blank_throw": "points for a throw of all dice that scores nothing (0: it is a bust)",
    "bust_penalty": "points that every bust costs",
    "streak_length": "so many turns in a row (see streak_counts) cost the streak penalty; 0 is never",
    "streak_penalty": "points that a streak costs",
    "streak_counts": "what a streak counts: busts, turns that post 0, or busts on a turn's first roll",
    "negative_totals": "whether a total may fall below 0",
    "wipeout": "a roll with this pattern wipes the whole total out",
    "instant_win": "a roll with this pattern wins the game at once",
    "last_die_rolls": "throws that the last die has before it is a bust",
    "last_die_bonus": "points on top when the last die scores (with two throws or more)",
    "last_die_step": "how much that bonus grows with each time in a turn",
    "steal": "whether the next player may take over the dice: never, after a bust, or after a bank",
    "challenge_split": "each player may challenge once below and once from this total (0: no challenges)",
    "challenge_penalties": "what a bust costs in the first and in the second challenge",
    "target": "the total that is played to",
    "reach": "when the target is reached: at it, above it, or hitting it exactly",
    "last_turns": "who plays on after that: everyone else once, the rest of the round, or nobody",
    "tie": "leaders level at the end: extra turns, or they win together",
}


# What a value means at the table: a sentence for each that has a name, or one in which {} is the value.
SENTENCES: dict[str, str | dict[Value, str]] = {
    "dice": "A fresh throw has {} dice.",
    "opening_minimum": "Until a player has points, a turn needs {} to count.",
    "bank_minimum": "Once a player has points, a turn needs {} to count.",
    "must_beat_previous": {
        True: "A turn must be worth more than the turn before it posted (topping).",
        False: "A turn need not be worth more than the one before it.",
    },
    "below_minimum": {
        "zero": "Below a minimum one may stop, and the turn posts nothing.",
        "roll-on": "Below a minimum one may not stop.",
    },
    "hot_dice": {
        "may-roll": "With all dice set aside, one may throw them all again, or bank.",
        "must-roll": "With all dice set aside, one must throw them all again.",
        "must-bank": "With all dice set aside, one must bank.",
    },
    "set_aside": {
        "any": "Any scoring dice of a roll may be set aside, at least one.",
        "all": "All scoring dice of a roll must be set aside.",
        "one-per-combination": "All that scores in a roll counts, and one die of each combination is set aside.",
    },
    "build_on_kept": {
        True: "Dice kept before count together with new ones (pyramiding).",
        False: "Dice score within one roll, never together with those kept before.",
    },
    "blank_throw": "A throw of all dice that scores nothing is worth {} points, and no bust.",
    "bust_penalty": "Every bust costs {} points.",
    "streak_length": "{} in a row of what a streak counts cost the streak penalty; then the count begins anew.",
    "streak_penalty": "A streak costs {} points.",
    "streak_counts": {
        "busts": "A streak counts busts; any other turn breaks it.",
        "scoreless-turns": "A streak counts turns that post nothing; any other turn breaks it.",
        "first-roll-busts": "A streak counts busts on a turn's first roll; any other turn breaks it.",
    },
    "negative_totals": {True: "A total may fall below 0.", False: "Nothing takes a total below 0."},
    "wipeout": "A roll with {} loses the player's whole total.",
    "instant_win": "A roll with {} wins the game at once.",
    "last_die_rolls": "With one die left, {} throws of it may score before it is a bust.",
    "last_die_bonus": "When it scores, {} points come on top, and one may throw all dice or bank.",
    "last_die_step": "That bonus grows by {} each time in a turn.",
    "steal": {
        "off": "Nobody takes over another's dice.",
        "after-bust": "After a bust, the next player may take over its dice and the points lost.",
        "after-bank": "After a bank, the next player may take over the dice left and a copy of its points.",
    },
    "challenge_split": "Each player may challenge once below {} points and once from there on: what the turn posts is "
    "also taken from the opponent.",
    "challenge_penalties": "A bust in the first challenge and in the second costs {} points.",
    "target": "The game is played to {} points.",
    "reach": {
        "at-least": "Who has that many or more has reached the target.",
        "more-than": "Who has more than that has reached the target.",
        "exactly": "The target must be met exactly: a turn that goes over it posts nothing.",
    },
    "last_turns": {
        "everyone-else": "Then everybody else has one more turn, and the highest total wins.",
        "rest-of-round": "Then the round is played to its end, and the highest total wins.",
        "none": "Nobody plays on after that.",
    },
    "tie": {
        "extra-turns": "Leaders who are level have one more turn each, until one is ahead.",
        "shared": "Leaders who are level win together.",
    },
}
_OFF = {"opening_minimum": "Any turn may be a player's first points.", "streak_length": "No streak costs anything."}


class RulesRow(Struct, frozen=True):
    """A ruleset in the list."""

    name: str
    title: str
    target: int
    aliases: list[str]
    source: str


class Difference(Struct, frozen=True):
    """A setting or combination in which two rulesets differ; values as one types them after `=`."""

    key: str
    old: str
    new: str


class TableRow(Struct, frozen=True):
    """The best score of one set of dice: `rolls` ordered throws show it, `used` dice make its `points`."""

    dice: str
    rolls: int
    points: int
    used: int


class Best(Struct, frozen=True):
    """The best keep of a roll and the combinations that it divides into."""

    dice: Dice
    points: int
    combinations: list[Part]


class KeepRow(Struct, frozen=True):
    """A legal keep."""

    dice: Dice
    points: int


class Score(Struct, frozen=True):
    """What a roll scores under some rules, on a bare table; `best` is null for a bust."""

    dice: Dice
    rules: str
    bust: bool
    best: Best | None
    keeps: list[KeepRow]


def rules_row(card: Card) -> RulesRow:
    """Return a ruleset's line in the list."""
    return RulesRow(card.rules.name, card.title, card.rules.target, list(card.aliases), card.source)


def rule_card(card: Card) -> str:
    """Return a ruleset as a page that a table can agree on."""
    rules = card.rules
    lines = [f"{card.title or rules.name} ({rules.name})", ""]
    width = max(map(len, _on(rules)), default=0)
    for name, combination in _on(rules).items():
        value = combination.points
        worth = f"{value[:-1]} x {value[-1]}" if isinstance(value, str) else str(value)
        lines.append(f"  {name.replace('_', ' '):{width}}  {combination.dice:6}  {worth:>8}")
    lines += ["", *listing(list(_settings(rules))).split("\n")]
    if card.decisions:
        lines += ["", "Decisions:", *listing([("  -", text) for text in card.decisions]).split("\n")]
    if card.aliases:
        lines += ["", f"Also called: {', '.join(card.aliases)}"]
    if card.source:
        lines += ["", f"Source: {card.source}"]
    return "\n".join(lines)


def _on(rules: Ruleset) -> dict[str, Combination]:
    return {name: one for name, one in rules.scoring.items() if not is_off(one)}


def _settings(rules: Ruleset) -> Iterator[tuple[str, str]]:
    always = ["opening_minimum", "hot_dice", "set_aside", "target", "reach", "last_turns", "tie"]
    if rules.opening_minimum or rules.bank_minimum or rules.must_beat_previous:
        always.append("below_minimum")
    if rules.streak_length:
        always.append("streak_counts")
    for key in SENTENCES:
        value: Value = getattr(rules, key)
        if key in always or value != DEFAULTS[key]:
            yield f"  {key} = {shown(value)}", sentence(key, value)


def sentence(key: str, value: Value) -> str:
    """Say what a setting means at the table."""
    said = SENTENCES[key]
    if isinstance(said, dict):
        return said[value]
    return _OFF[key] if value == 0 and key in _OFF else said.format(shown(value).replace(",", " and "))


def table_rows(rules: Ruleset) -> list[TableRow]:
    """Return the best score of each set of dice, by size, then ascending."""
    table = Table.of(rules)
    rows = []
    for roll in dice.sets(rules.dice):
        legal = table.keeps(roll)
        best = best_keep(legal) if legal else None
        rows.append(
            TableRow(
                dice.write(roll, "-"), dice.throws(roll), best.points if best else 0, len(best.dice) if best else 0
            )
        )
    return rows


def score(rules: Ruleset, throw: Dice) -> Score:
    """Return what a throw scores, the best partition explained, and all legal keeps, best first."""
    table = Table.of(rules)
    roll = tuple(sorted(throw))
    legal = table.keeps(roll)
    best = None
    if legal:
        keep = best_keep(legal)
        found = table.partition(keep.dice)
        assert found is not None
        best = Best(keep.dice, keep.points, list(found[1]))
    ranked = sorted(legal, key=lambda one: (-legal[one], -len(one), one))
    blank = bool(rules.blank_throw) and len(roll) == rules.dice
    return Score(throw, rules.name, not legal and not blank, best, [KeepRow(one, legal[one]) for one in ranked])
