"""Schemas: this module generates the JSON Schemas of events, ruleset files and outputs from the structs.

`python -m tenklog.schemas FOLDER` writes them; a test fails when those in the repository are stale.
"""

import sys
from pathlib import Path
from typing import Any

from msgspec import json

from tenklog import cards, checks, compare, events, projections
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
    "score": ("tenklog score --json", cards.Score),
    "rules-list": ("tenklog rules list --json", list[cards.RulesRow]),
    "rules-diff": ("tenklog rules diff --json", list[cards.Difference]),
    "rules-table": ("tenklog rules table --json", list[cards.TableRow]),
    "replay": ("tenklog replay --json", compare.Comparison),
    "check": ("tenklog check --json", checks.Report),
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


def files() -> dict[str, bytes]:
    """Return every schema file by name."""
    made = {name: schema(title, kind) for name, (title, kind) in OUTPUTS.items()} | {"ruleset-file": ruleset_file()}
    return {f"{name}.schema.json": json.format(json.encode(one), indent=2) + b"\n" for name, one in made.items()}


def main() -> None:
    """Write the schemas into the folder that the command line names."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "schemas")
    for name, content in files().items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
