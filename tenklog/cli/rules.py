"""Rules: this module has the commands about rulesets, and the one that scores dice."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from tenklog import cards, dice
from tenklog.cli.common import (
    command,
    emit,
    game_option,
    home,
    load,
    one_of,
    output_options,
    remark,
    rules_here,
    rules_option,
    ruleset,
)
from tenklog.errors import DataError, TenklogError, UsageError
from tenklog.projections import row
from tenklog.render import Format, Output, visible
from tenklog.rulebook import Card, card, card_files, read_card, write_toml
from tenklog.rules import Ruleset, differences, shown

if TYPE_CHECKING:
    from tenklog.evidence import Record


@click.group("rules", context_settings={"help_option_names": ["-h", "--help"]})
def rules() -> None:
    """List, show, compare and check rulesets, and infer which explain a game.

    R is a preset, the name of a file in the home's rules folder, or the path of a TOML file of your own.
    """


@command("list", example="tenklog rules list", group=rules)
@output_options
def list_rules(form: Format) -> None:
    """List the presets and your own rulesets."""
    found, wrong = _read(card_files(home().rules))
    columns = ("name", "title", "target", "aliases")
    emit(
        Output(found, columns if form == "table" else cards.RulesRow.__struct_fields__, [row(one) for one in found]),
        form,
    )
    _give_up_on(wrong)


@command("show", example="tenklog rules show zilch", group=rules)
@click.argument("name", metavar="R")
@click.option("--set", "sets", multiple=True, metavar="K=V", help="Change a setting or a combination (repeatable).")
@click.option("--toml", is_flag=True, help="As a TOML file to start your own from.")
@output_options
def show(name: str, sets: tuple[str, ...], toml: bool, form: Format) -> None:
    """Show a ruleset as a rule card: scores, settings, decisions, source."""
    found = replace(card(name, home().rules), rules=ruleset(name, sets))
    if toml:
        emit(Output(found, text=write_toml(found.rules).rstrip("\n")), "table")
        return
    keys: list[dict[str, object]] = [{"key": key, "value": shown(one)} for key, one in found.rules.scoring.items()]
    keys += [{"key": key, "value": shown(getattr(found.rules, key))} for key in cards.MEANINGS]
    emit(Output(found, ("key", "value"), keys, visible_lines(cards.rule_card(found))), form)


def visible_lines(text: str) -> str:
    """Escape a text of several lines."""
    return "\n".join(map(visible, text.split("\n")))


@command("diff", example="tenklog rules diff tiotusen zilch", group=rules)
@click.argument("old", metavar="R")
@click.argument("new", metavar="R")
@click.option("--set", "sets", multiple=True, metavar="K=V", help="Change the second ruleset first (repeatable).")
@output_options
def diff(old: str, new: str, sets: tuple[str, ...], form: Format) -> None:
    """List what differs between two rulesets."""
    found = [
        cards.Difference(key, shown(a), shown(b))
        for key, (a, b) in differences(ruleset(old), ruleset(new, sets)).items()
    ]
    rows: list[dict[str, object]] = [{"key": one.key, old: one.old, new: one.new} for one in found]
    if form in ("csv", "jsonl") or old == new:
        rows = [row(one) for one in found]
    columns = list(rows[0]) if rows else cards.Difference.__struct_fields__
    emit(Output(found, columns, rows, None if rows else "They are equal."), form)


@command("check", example="tenklog rules check house.toml", group=rules)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@output_options
def check(files: tuple[str, ...], form: Format) -> None:
    """Check ruleset files of your own."""
    found, wrong = _read(map(Path, files))
    text = "\n".join(f"{one.name} is sound." for one in found)
    emit(Output(found, cards.RulesRow.__struct_fields__, [row(one) for one in found], text), form)
    _give_up_on(wrong)


def _read(files: Iterable[Path]) -> tuple[list[cards.RulesRow], list[TenklogError]]:
    """Read ruleset files; return those that are sound, and what is wrong with the others."""
    found, wrong = [], []
    for file in files:
        try:
            found.append(cards.rules_row(read_card(file, (home().rules,))))
        except TenklogError as error:
            wrong.append(error)
    return found, wrong


def _give_up_on(wrong: list[TenklogError]) -> None:
    """Say what is wrong with all but the last of some files, and end with the last."""
    for error in wrong[:-1]:
        remark(f"error: {error}")
    if wrong:
        raise wrong[-1]


@command("table", example="tenklog rules table tiotusen --csv", group=rules)
@click.argument("name", metavar="R")
@click.option("--set", "sets", multiple=True, metavar="K=V", help="Change a setting or a combination (repeatable).")
@output_options
def table(name: str, sets: tuple[str, ...], form: Format) -> None:
    """Print the best score of each of the 923 sets of one to six dice."""
    found = cards.table_rows(ruleset(name, sets))
    emit(Output(found, cards.TableRow.__struct_fields__, [row(one) for one in found]), form)


@command("infer", example="tenklog rules infer friday.csv", group=rules)
@click.argument("given", metavar="[GAME|SHEET]", required=False)
@game_option
@rules_option
@click.option("--first", metavar="PLAYER", help="Who begins, of a sheet (default: the first on it).")
@click.option(
    "--numbers", type=click.Choice(("points", "totals")), help="What a sheet's numbers are, where it does not tell."
)
@output_options
def infer(
    given: str | None,
    game: str | None,
    name: str | None,
    sets: tuple[str, ...],
    first: str | None,
    numbers: str | None,
    form: Format,
) -> None:
    """Tell which rules explain a game or a score sheet (CSV), and what first contradicts each of the others.

    Then single settings are varied: from --rules, else from a game's own rules, else from the first that explain it.
    """
    from tenklog import infer as inferring

    named = one_of(given, game)
    record, own = _record(named, first, numbers)
    base = own if name is None and not sets else ruleset(name or "tiotusen", sets)
    found = inferring.infer(*record, base)
    columns = ("kind", "name", "value", "explains", "place", "why")
    emit(Output(found, columns, inferring.rows(found), visible_lines(inferring.story(found))), form)


def _record(
    named: str | None, first: str | None, numbers: str | None
) -> "tuple[tuple[str, Record, list[Ruleset]], Ruleset | None]":
    """Read a log or a sheet; return its name, the record, the rulesets to try, and the log's own rules."""
    from tenklog import cells, evidence, infer, reading, sheets

    known = [one.rules for one in map(_sound, card_files(home().rules)) if one is not None]
    path = Path(named) if named is not None else None
    if path is not None and (named == "-" or (path.suffix != ".jsonl" and path.is_file())):
        data = reading.read_bytes(path)
        if data.lstrip()[:1] != b"{":
            try:
                sheet = sheets.lay_out(cells.read(cells.decode(data)), numbers)  # type: ignore[arg-type]
            except DataError as error:
                raise DataError(
                    error.what, error.right, f"{named}:{error.where}" if error.where else str(named)
                ) from None
            record = evidence.SheetRecord(sheet, first, known)
            for one in record.slips:
                remark(f"under any rules: {one.error(str(named))}")
            return (path.stem if named != "-" else "sheet", record, known), None
        log = reading.parse(data, str(named))
    else:
        log = load(named)
    if first is not None or numbers is not None:
        raise UsageError("--first and --numbers are about a sheet", "a CSV file, or neither of them")
    own = log.start.rules
    tried = known if infer.same(own, known) else [replace(own, name="recorded"), *known]
    return (log.start.game, evidence.LogRecord(log.game, log.events), tried), own


def _sound(path: Path) -> Card | None:
    """Read a ruleset, or say that it is left out."""
    try:
        return read_card(path, (home().rules,))
    except TenklogError as error:
        remark(f"left out: {error}")
        return None


@command("score", example="tenklog score 133446 --rules ten-thousand")
@click.argument("faces", nargs=-1, metavar="DICE")
@rules_option
@output_options
def score(faces: tuple[str, ...], name: str | None, sets: tuple[str, ...], form: Format) -> None:
    """Score dice thrown together: the best keep explained, and everything that may be kept.

    Without --rules, by the rules of the current game.
    """
    found = cards.score(rules_here(name, sets), dice.parse(" ".join(faces)))
    rows: list[dict[str, object]] = [{"dice": dice.write(one.dice, "-"), "points": one.points} for one in found.keeps]
    if found.best is None:
        text = f"{dice.write(found.dice)} scores nothing under {found.rules}."
    else:
        why = " + ".join(
            f"{dice.write(one.dice, '')} {one.name.replace('_', ' ')} {one.points}" for one in found.best.combinations
        )
        keeps = ", ".join(f"{dice.write(one.dice)} ({one.points})" for one in found.keeps)
        text = f"{dice.write(found.dice)} under {found.rules}: at best {found.best.points} = {why}\nKeeps: {keeps}"
    emit(Output(found, ("dice", "points"), rows, visible_lines(text)), form)
