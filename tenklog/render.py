"""Render: this module turns rows and documents into the text of a table, Markdown, CSV, JSON or JSON Lines.

Names and notes come from people and from strangers' logs: in a terminal no character of theirs may move the cursor or
turn the writing round, in Markdown none may end a cell, and in CSV no cell may be run as a formula by a spreadsheet.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, json, to_builtins

Format = Literal["table", "markdown", "csv", "json", "jsonl"]
FORMATS: tuple[Format, ...] = ("table", "markdown", "csv", "json", "jsonl")
# What spreadsheets take for a formula, or for the beginning of one (OWASP ASVS 1.2.10).
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0")

Row = dict[str, object]


class Output(Struct):
    """What a command has to say: a document for JSON, rows for tables, and a text for people where a table is not best.

    `columns` are the keys of the rows in order.
    """

    document: object
    columns: Sequence[str] = ()
    rows: Sequence[Row] = ()
    text: str | None = None


def render(output: Output, form: Format) -> str:
    """Return the text of an output, with a newline at its end unless it is empty."""
    if form == "json":
        return json.format(json.encode(output.document), indent=2).decode() + "\n"
    if form == "jsonl":
        rows: Sequence[object] = output.rows or ([] if output.columns else [output.document])
        return "".join(json.encode(row).decode() + "\n" for row in rows)
    if form == "csv":
        return _csv(output)
    if form == "table" and output.text is not None:
        return output.text + "\n" if output.text else ""
    return _table(output, form)


def visible(text: str) -> str:
    """Return a text in which every character that a terminal would obey, or that turns writing round, is escaped."""
    if text.isascii() and text.isprintable():
        return text
    joiners = "\u200c\u200d"
    return "".join(
        one if one.isprintable() or one in joiners or one == "\u00a0" else one.encode("unicode_escape").decode()
        for one in text
    )


def cell(value: object) -> str:
    """Return a value as a table shows it: nothing known is `-`, lists are joined, booleans are yes or nothing."""
    if value is None:
        return "-"
    if value is True:
        return "yes"
    if value is False:
        return ""
    if isinstance(value, list | tuple):
        return visible(", ".join(map(str, value)))
    return visible(str(value))


def _table(output: Output, form: Format) -> str:
    if not output.columns:
        return ""
    right = [all(isinstance(row.get(column), int | None) for row in output.rows) for column in output.columns]
    rows = [[cell(row.get(column)) for column in output.columns] for row in output.rows]
    return grid([column.replace("_", " ") for column in output.columns], rows, right, form)


def grid(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], form: Format) -> str:
    """Return a table (or one in Markdown) of texts; `right` says which columns are flush right."""
    from tabulate import tabulate  # recording commands don't pay for it

    heads = [visible(head) for head in heads]
    if form == "markdown":
        rows = [[_plain(text) for text in row] for row in rows]
        heads = [_plain(head) for head in heads]
    return (
        tabulate(
            rows,
            headers=heads,
            tablefmt="github" if form == "markdown" else "simple",
            disable_numparse=True,
            colalign=["right" if flush else "left" for flush in right] if rows else None,
        )
        + "\n"
    )


def _plain(text: str) -> str:
    """Escape what would end a cell of a Markdown table or become HTML in it."""
    return "".join(f"\\{one}" if one in "\\|<&" else one for one in text)


def _csv(output: Output) -> str:
    import csv
    import io

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([_harmless(column) for column in output.columns])
    for row in output.rows:
        writer.writerow([_harmless(row.get(column)) for column in output.columns])
    return buffer.getvalue()


def _harmless(value: object) -> object:
    value = to_builtins(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        value = " ".join(map(str, value))
    if not isinstance(value, str):
        return value
    return ("'" if value.startswith(FORMULA) else "") + visible(value)
