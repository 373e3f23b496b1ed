"""People: this module knows who is who: one person under several spellings is joined in reports, never in logs.

The file `people.toml` of the home folder lists, for a person, the other names that logs have:
`Anna = ["Annie", "A."]`. Who sits at one table under two spellings counts twice there.
"""

from pathlib import Path

from tenklog import files
from tenklog.errors import DataError, TenklogError
from tenklog.events import name as checked


def read_people(path: Path) -> dict[str, str]:
    """Return the person of every spelling that is not the person's own; raise DataError for a file that is wrong."""
    if not files.exists(path):
        return {}
    import tomllib

    with files.telling(path), files.opened(path, files.READ) as fd:
        data = files.read(fd)
    try:
        listed = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"is no TOML: {error}", 'lines such as Anna = ["Annie", "A."]', str(path)) from None
    people: dict[str, str] = {}
    for person, spellings in listed.items():
        if not isinstance(spellings, list) or not all(isinstance(one, str) for one in spellings):
            raise DataError(f"{person!r} is no list of names", f'{person} = ["Annie", "A."]', str(path))
        try:
            who = checked(person)
            for spelling in map(checked, spellings):
                if people.setdefault(spelling, who) != who:
                    raise DataError(f"{spelling} is {people[spelling]} and {who}", "one person for a name", str(path))
        except TenklogError as error:
            raise DataError(error.what, error.right, str(path)) from None
    for spelling, who in people.items():
        if who in people and who != spelling:
            raise DataError(f"{spelling} is {who}, who is {people[who]}", f"{people[who]} for both", str(path))
    return {spelling: who for spelling, who in people.items() if spelling != who}
