"""Render: this module turns rows and documents into the text of a table, Markdown, CSV, JSON or JSON Lines.

Names and notes come from people and from strangers' logs: in a terminal no character of theirs may move the cursor or
turn the writing round, in Markdown none may end a cell, and in CSV no cell may be run as a formula by a spreadsheet.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct, json, to_builtins

Format = Literal["table", "markdown", "csv", "json", "jsonl"]
FORMATS: tuple[Format, ...] = ("table", "markdown", "csv", "json", "jsonl")
# What spreadsheets take for a formula, or for the beginning of one (OWASP ASVS 1.2.10).
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0")

MOST_LINE = 2000  # characters of an error

Row = dict[str, object]
FORMATS_OF_UNITS = {"share": ".1%", "mean": ".1f", "p": ".4f"}
encode = json.Encoder(decimal_format="number").encode


class Output(Struct):
    """What a command has to say: a document for JSON, rows for tables, and a text for people where a table is not best.

    `columns` are the keys of the rows in order; `units` say of some of them how people write their values. `heads`
    says how tables write the names of columns: as words, as words one below the other, or as they are.
    """

    document: object
    columns: Sequence[str] = ()
    rows: Sequence[Row] = ()
    text: str | None = None
    units: Mapping[str, str] = {}
    heads: Literal["words", "stacked", "exact"] = "words"


def render(output: Output, form: Format, raw: bool = False) -> str:
    """Return the text of an output, ended by a newline unless it is empty; `raw` leaves CSV cells as they are."""
    if form == "json":
        return _visible_json(json.format(encode(output.document), indent=2)) + "\n"
    if form == "jsonl":
        rows: Sequence[object] = output.rows or ([] if output.columns else [output.document])
        return "".join(_visible_json(encode(row)) + "\n" for row in rows)
    if form == "csv":
        return _csv(output, raw)
    if form == "table" and output.text is not None:
        return output.text + "\n" if output.text else ""
    return _table(output, form)


def visible(text: str) -> str:
    """Return a text in which every character that a terminal would obey, or that turns writing round, is escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if _is_plain(one) else one.encode("unicode_escape").decode() for one in text)


def _is_plain(sign: str) -> bool:
    return sign.isprintable() or sign in "\u200c\u200d\u00a0"  # joiners, and the space that does not break


def escaped_json(text: str, plain: Callable[[str], bool]) -> str:
    """Return JSON that reads as the same, with all but plain characters escaped; those stand in its strings alone."""
    return "".join(one if one == "\n" or plain(one) else _escape(one) for one in text)


def _escape(sign: str) -> str:
    data = sign.encode("utf-16-be")
    return "".join(f"\\u{data[place : place + 2].hex()}" for place in range(0, len(data), 2))


def _visible_json(data: bytes) -> str:
    text = data.decode()
    return text if text.replace("\n", "").isprintable() else escaped_json(text, _is_plain)


def one_line(text: str) -> str:
    """Return a text as a line of an error or a remark: visible, its middle cut when somebody's words make it long."""
    line = visible(text)
    half = MOST_LINE // 2
    return line if len(line) <= MOST_LINE else f"{line[:half]} ... {line[-half:]}"


def cell(value: object, unit: str = "") -> str:
    """Return a value as a table shows it: nothing known is `-`, lists are joined, booleans are yes or nothing.

    A share is written in percent, a mean with one decimal, a p-value with four; other numbers with what they have.
    """
    if value is None:
        return "-"
    if value is True:
        return "yes"
    if value is False:
        return ""
    if isinstance(value, float) or _is_decimal(value):
        return f"{value:{FORMATS_OF_UNITS.get(unit, '.10g')}}"
    if isinstance(value, datetime):
        return str(value)[:16]
    if isinstance(value, list | tuple):
        return visible(", ".join(map(str, value)))
    return visible(str(value))


def _is_decimal(value: object) -> bool:
    return type(value).__name__ == "Decimal"  # a name, because to import the type takes 14 ms


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | None) or _is_decimal(value)


def _table(output: Output, form: Format) -> str:
    if not output.columns:
        return ""
    right = [all(_is_number(row.get(one)) for row in output.rows) for one in output.columns]
    rows = [[cell(row.get(one), output.units.get(one, "")) for one in output.columns] for row in output.rows]
    joint = {"words": " ", "stacked": "\n" if form == "table" else " ", "exact": "_"}[output.heads]
    return grid([column.replace("_", joint) for column in output.columns], rows, right, form)


def listing(rows: Sequence[Sequence[str]], width: int = 80) -> str:
    """Return rows whose last text may be long, wrapped at a width."""
    import textwrap

    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
    lines = []
    for row in rows:
        first = "".join(f"{visible(text):<{size + 2}}" for text, size in zip(row, widths, strict=False))
        lines += textwrap.wrap(visible(row[-1]), width, initial_indent=first, subsequent_indent=" " * len(first))
    return "\n".join(lines)


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], form: Format) -> str:
    """Return a table (or one in Markdown) of texts; `right` says which columns are flush right."""
    import tabulate  # recording commands don't pay for it

    tabulate.MIN_PADDING = 0  # or each heading of a plain table is two blanks wider than its word
    heads = ["\n".join(map(visible, head.split("\n"))) for head in heads]
    if form == "markdown":
        rows = [[plain_markdown(text) for text in row] for row in rows]
        heads = [plain_markdown(head) for head in heads]
    return (
        tabulate.tabulate(
            rows,
            headers=heads,
            tablefmt="github" if form == "markdown" else "simple",
            disable_numparse=True,
            colalign=["right" if flush else "left" for flush in right] if rows else None,
        )
        + "\n"
    )


def plain_markdown(text: str) -> str:
    """Escape what would end a cell of a Markdown table or become HTML in it."""
    return "".join(f"\\{one}" if one in "\\|<&" else one for one in text)


def _csv(output: Output, raw: bool) -> str:
    return csv_text([output.columns, *([row.get(column) for column in output.columns] for row in output.rows)], raw)


def csv_text(rows: Iterable[Sequence[object]], raw: bool = False) -> str:
    """Return rows of cells as CSV that no spreadsheet runs; `raw` leaves them as they are."""
    import csv
    import io

    made = _plain_cell if raw else _harmless
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([made(value) for value in row] for row in rows)
    return buffer.getvalue()


def _plain_cell(value: object) -> object:
    value = value if _is_number(value) else to_builtins(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return " ".join(map(str, value))
    if isinstance(value, list | dict):
        return encode(value).decode()
    return value


def _harmless(value: object) -> object:
    """Return what no spreadsheet runs: an apostrophe goes before a text that it would take for a formula."""
    value = _plain_cell(value)
    if not isinstance(value, str):
        return value
    return ("'" if value.startswith(FORMULA) else "") + visible(value)
