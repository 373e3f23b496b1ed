"""Schemas: this module generates the JSON Schemas of events, ruleset files and outputs from the structs.

`python -m tenklog.schemas FOLDER` writes them; a test fails when those in the repository are stale.
"""

import sys
from pathlib import Path
from typing import Any

from msgspec import json

from tenklog import (
    advice,
    archive,
    cards,
    checks,
    compare,
    events,
    importing,
    infer,
    luck,
    odds,
    overview,
    projections,
    reports,
    simulate,
    staging,
    stats,
    sweep,
    tables,
)
from tenklog.rules import DEFAULTS, Ruleset

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# File name -> title, type.
OUTPUTS: dict[str, tuple[str, Any]] = {
    "event": ("One line of a log, without its `h`", events.AnyEvent),
    "ruleset": ("A whole ruleset, as a start event carries it", Ruleset),
    "record": ("What every recording command prints with --json", projections.Record),
    "show": ("tenklog show --json", projections.Show),
    "sheet": ("tenklog sheet --json", projections.Sheet),
    "games": ("tenklog games --json", list[projections.GameRow]),
    "import": ("tenklog import --json", list[importing.Imported]),
    "export": ("tenklog export --json", projections.Export),
    "score": ("tenklog score --json", cards.Score),
    "rules-list": ("tenklog rules list --json", list[cards.RulesRow]),
    "rules-diff": ("tenklog rules diff --json", list[cards.Difference]),
    "rules-infer": ("tenklog rules infer --json", infer.Inference),
    "rules-table": ("tenklog rules table --json", list[cards.TableRow]),
    "replay": ("tenklog replay --json", compare.Comparison),
    "replay-archive": ("tenklog replay --archive --json", overview.ArchiveReplay),
    "sweep": ("tenklog sweep --json", sweep.Sweep),
    "odds": ("tenklog odds --json", odds.Odds),
    "advise": ("tenklog advise --json", advice.Advice),
    "luck": ("tenklog luck --json", luck.Luck),
    "simulate": ("tenklog simulate --json", simulate.Summary),
    "check": ("tenklog check --json", checks.Report),
    "players": ("tenklog games --players --json", list[projections.PlayerRow]),
    "archive": ("tenklog archive --json", list[staging.Outcome]),
    "manifest": ("manifest.json of an archive", archive.Manifest),
}


def schema(title: str, kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type."""
    return {"$schema": DIALECT, "title": title, **json.schema(kind)}


def ruleset_file() -> dict[str, Any]:
    """Return the schema of a ruleset's TOML file: every key may be left out, and `none` stands for no pattern."""
    whole = json.schema(Ruleset)["$defs"]
    settings: dict[str, Any] = {key: whole["Ruleset"]["properties"][key] for key in DEFAULTS}
    for key in ("wipeout", "instant_win"):
        pattern = next(one for one in settings[key]["anyOf"] if one.get("type") == "string")
        settings[key] = {"anyOf": [pattern, {"const": "none"}]}
    points = whole["Combination"]["properties"]["points"]
    texts = {"type": "array", "items": {"type": "string"}}
    described = {key: {"type": "string"} for key in ("name", "title", "source", "based_on")}
    return {
        "$schema": DIALECT,
        "title": "A ruleset's TOML file, its keys as JSON",
        "type": "object",
        "properties": {
            **described,
            "aliases": texts,
            "decisions": texts,
            **{key: settings[key] | {"description": cards.MEANINGS[key]} for key in DEFAULTS},
            "scoring": {
                "type": "object",
                "description": "A combination of the base may be given its points alone.",
                "additionalProperties": {"anyOf": [{"$ref": "#/$defs/Combination"}, points]},
            },
        },
        "additionalProperties": False,
        "$defs": {"Combination": whole["Combination"]},
    }


def archive_page() -> str:
    """Return the page that documents the columns of the archive's tables and of the reports, in Markdown."""
    lines = [
        "# Tables and reports",
        "",
        "Generated from the code. Unknown is null, never 0. Columns may come; none goes or changes its meaning.",
        "",
        "# The archive's tables",
    ]
    for name, columns in (*tables.ASKED.items(), ("dice_sets", stats.DICE_SETS)):
        lines += ["", f"## {name}", "", "| column | type | meaning |", "|---|---|---|"]
        lines += [f"| {one.name} | {one.type.replace('STRUCT', 'STRUCT ')} | {one.about} |" for one in columns]
    lines += [
        "",
        "# The reports",
        "",
        "Units: text, count, points (whole), mean (a number), share (0 to 1, in tables percent), p, time (UTC).",
    ]
    for report in reports.ours().values():
        lines += ["", f"## {report.name}", "", f"{report.title}. {report.about}", ""]
        lines += ["| column | unit | meaning |", "|---|---|---|"]
        lines += [f"| {one.name} | {one.unit} | {one.about} |" for one in report.columns]
    return "\n".join(lines) + "\n"


def files() -> dict[str, bytes]:
    """Return every generated file by name."""
    made = {name: schema(title, kind) for name, (title, kind) in OUTPUTS.items()} | {"ruleset-file": ruleset_file()}
    found = {f"{name}.schema.json": json.format(json.encode(one), indent=2) + b"\n" for name, one in made.items()}
    return found | {"TABLES.md": archive_page().encode()}


def main() -> None:
    """Write the schemas into the folder that the command line names."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "schemas")
    for name, content in files().items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
