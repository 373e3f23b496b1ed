"""Cards: this module lays a ruleset out for people: a rule card, score tables, explained scores."""

from collections.abc import Iterator

from msgspec import Struct

from tenklog import dice
from tenklog.dice import Dice
from tenklog.rules import DEFAULTS, Card, Combination, Ruleset, Value, is_off, shown
from tenklog.scoring import Part, Table, best_keep

# What each setting means at the table, in the order of a rule card; shown where a ruleset differs from the default.
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
    lines += ["", *_settings(rules)]
    if card.decisions:
        lines += ["", "Decisions:", *(f"  - {text}" for text in card.decisions)]
    if card.aliases:
        lines += ["", f"Also called: {', '.join(card.aliases)}"]
    if card.source:
        lines += ["", f"Source: {card.source}"]
    return "\n".join(lines)


def _on(rules: Ruleset) -> dict[str, Combination]:
    return {name: one for name, one in rules.scoring.items() if not is_off(one)}


def _settings(rules: Ruleset) -> Iterator[str]:
    always = ("opening_minimum", "hot_dice", "set_aside", "target", "reach", "last_turns", "tie")
    for key, meaning in MEANINGS.items():
        value: Value = getattr(rules, key)
        if key in always or value != DEFAULTS[key]:
            yield f"  {key} = {shown(value)}"
            yield f"      {meaning}"


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
