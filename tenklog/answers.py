"""Answers: this module writes the answer of a query to a file, in a DuckDB of our own.

The one that ran the SQL can reach no file. All of a file is written, or none. What Parquet can't hold as it is, is
refused with the name of its column.
"""

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

from tenklog import archive, files
from tenklog.errors import DataError
from tenklog.render import Format, Output, encode, render
from tenklog.stats import Answer
from tenklog.tables import quoted, sql_text

# What JSON would change inside of a list or struct, or Parquet does not know.
_LOST = re.compile(
    r"\b(BLOB|U?HUGEINT|INTERVAL|UNION|BIT|BIGNUM|VARIANT|JSON|GEOMETRY|TIME WITH TIME ZONE)\b|MAP\((STRUCT|\w+\[)"
)


def write(answer: Answer, target: Path, raw: bool = False) -> None:
    """Write an answer to a new file, by its suffix: Parquet, CSV (with `raw`, formulas too) or JSON; all or nothing."""
    fresh = target.parent / f".{target.name}.new"
    with files.telling(target):
        try:
            if target.suffix == ".parquet":
                _write_parquet(answer, fresh)
            else:
                rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
                form: Format = "csv" if target.suffix == ".csv" else "json"
                fresh.write_text(render(Output(rows, answer.columns, rows), form, raw), encoding="utf-8")
            os.replace(fresh, target)
        except BaseException:
            files.remove(fresh)
            raise


def _write_parquet(answer: Answer, target: Path) -> None:
    """Write rows as Parquet, through JSON; columns that JSON would change go through a text."""
    import duckdb

    columns = list(zip(*answer.rows, strict=True)) if answer.rows else [()] * len(answer.columns)
    made = [_column(*one) for one in zip(answer.columns, answer.types, columns, strict=True)]
    lines = target.with_suffix(".lines")
    kinds = ", ".join(
        f"{sql_text(name)}: {sql_text(kind)}" for name, (kind, _, _) in zip(answer.columns, made, strict=True)
    )
    chosen = ", ".join(expression for _, expression, _ in made)
    read = f"read_json({quoted(lines)}, format = 'newline_delimited', columns = {{{kinds}}})"
    con = archive.connect()
    try:
        with lines.open("wb") as out:
            for row in zip(*(values for _, _, values in made), strict=True):
                out.write(encode(dict(zip(answer.columns, row, strict=True))) + b"\n")
        con.execute(f"COPY (SELECT {chosen} FROM {read}) TO {sql_text(str(target))} (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.Error as error:
        what = f"the answer can't be written as Parquet: {str(error).splitlines()[0]}"
        raise DataError(what, "another suffix: .csv or .json") from None
    finally:
        con.close()
        files.remove(lines)


def _column(name: str, kind: str, values: Sequence[object]) -> tuple[str, str, Sequence[object]]:
    """Return the type to read a column with, the SQL that gives it its own again, and its values for JSON."""
    named = '"' + name.replace('"', '""') + '"'
    texts = [None if value is None else str(value) for value in values]
    if kind in ("HUGEINT", "UHUGEINT"):
        largest = max((abs(value) for value in values if isinstance(value, int)), default=0)
        if largest < 1 << 63:
            return "BIGINT", named, values
        return "VARCHAR", f"{named}::DECIMAL(38, 0) AS {named}" if largest < 10**38 else named, texts
    if kind in ("FLOAT", "DOUBLE") and not all(math.isfinite(value) for value in values if isinstance(value, float)):
        return "VARCHAR", f"{named}::{kind} AS {named}", texts
    if kind == "BLOB":
        return "VARCHAR", f"from_base64({named}) AS {named}", values
    if kind == "JSON":
        return "VARCHAR", f"{named}::JSON AS {named}", values
    if lost := _LOST.search(kind):
        what = f"the column {name} is {kind if len(kind) <= 80 else lost[0]}, which can't be written as Parquet"
        raise DataError(what, "cast it, for example to VARCHAR")
    return kind, named, values
