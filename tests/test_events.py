"""The vocabulary of the log: one event, one line, the same bytes every time; anything else is named."""

import json
from hashlib import blake2b
from typing import Any, get_args

import pytest
from evening import ruleset, start
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tenklog import events
from tenklog.errors import DataError, UsageError
from tenklog.rules import DEFAULTS, Combination

# -- lines ------------------------------------------------------------------------------------------------------------


def line(**fields: Any) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def refusal(text: bytes, canonical: bool = True) -> str:
    with pytest.raises(DataError) as refused:
        events.decode(text, canonical)
    assert refused.value.exit_code == 1
    return str(refused.value)


WRITTEN = [
    (events.Roll(2, player="A", dice=(6, 1, 3)), b'{"type":"roll","seq":2,"player":"A","dice":[6,1,3]}'),
    (
        events.Roll(2, time="2026-11-29T20:15:00.000Z", id="k", player="A", dice=(6,), thrown_by="tenklog"),
        b'{"type":"roll","seq":2,"time":"2026-11-29T20:15:00.000Z","id":"k","player":"A","dice":[6],"thrown_by":"tenklog"}',
    ),
    (events.Keep(3, player="A", dice=(1,)), b'{"type":"keep","seq":3,"player":"A","dice":[1]}'),
    (
        events.Keep(3, player="A", dice=(5, 1), aside=(5,)),
        b'{"type":"keep","seq":3,"player":"A","dice":[5,1],"aside":[5]}',
    ),
    (events.Bank(4, player="A", points=0), b'{"type":"bank","seq":4,"player":"A","points":0}'),
    (
        events.Bank(4, player="A", points=0, settled=True),
        b'{"type":"bank","seq":4,"player":"A","points":0,"settled":true}',
    ),
    (events.Bust(5, player="Ünal"), '{"type":"bust","seq":5,"player":"Ünal"}'.encode()),
    (
        events.RuleChange(6, changes={"target": 5000, "wipeout": None, "tie": "shared"}, scope="next-turn"),
        b'{"type":"rule-change","seq":6,"changes":{"target":5000,"wipeout":null,"tie":"shared"},"scope":"next-turn"}',
    ),
    (
        events.RuleChange(
            6, changes={"pair": Combination("AA", "10A"), "challenge_penalties": (1, 2)}, scope="whole-game"
        ),
        b'{"type":"rule-change","seq":6,"changes":{"pair":{"dice":"AA","points":"10A"},"challenge_penalties":[1,2]},'
        b'"scope":"whole-game"}',
    ),
    (events.Steal(7, player="A"), b'{"type":"steal","seq":7,"player":"A"}'),
    (events.Challenge(8, player="A", opponent="B"), b'{"type":"challenge","seq":8,"player":"A","opponent":"B"}'),
    (events.Undo(9, of=8), b'{"type":"undo","seq":9,"of":8}'),
    (events.Undo(9, of=8, why="misread"), b'{"type":"undo","seq":9,"of":8,"why":"misread"}'),
    (events.Expect(10, totals={"A": -50, "B": 0}), b'{"type":"expect","seq":10,"totals":{"A":-50,"B":0}}'),
    (events.Expect(10, totals={}), b'{"type":"expect","seq":10,"totals":{}}'),
    (events.Join(11, player="C"), b'{"type":"join","seq":11,"player":"C"}'),
    (events.Leave(12, player="C"), b'{"type":"leave","seq":12,"player":"C"}'),
    (events.Rename(13, player="A", to="Z"), b'{"type":"rename","seq":13,"player":"A","to":"Z"}'),
    (events.Note(14, text='say "hi"\n'), b'{"type":"note","seq":14,"text":"say \\"hi\\"\\n"}'),
    (events.Abandon(15), b'{"type":"abandon","seq":15}'),
    (events.Abandon(15, why="late"), b'{"type":"abandon","seq":15,"why":"late"}'),
]


@pytest.mark.parametrize(("event", "written"), WRITTEN)
def test_an_event_is_written_with_its_fields_in_order_and_no_spaces(event: events.Event, written: bytes) -> None:
    assert events.encode(event) == written
    assert events.decode(written) == event


def test_every_type_of_event_is_written_here() -> None:
    tags = {event.__struct_config__.tag for event, _ in WRITTEN} | {"start"}
    assert tags == set(events.TYPES) == {kind.__struct_config__.tag for kind in get_args(events.AnyEvent)}


def test_a_start_carries_the_whole_ruleset_with_every_key() -> None:
    first = start("A B", ruleset("tiotusen"), title="Friday", first_throw={"A": (6,), "B": (2,)})
    written = json.loads(events.encode(first))
    assert list(written) == ["type", "seq", "game", "version", "players", "rules", "origin", "title", "first_throw"]
    assert list(written["rules"]) == ["name", "scoring", *DEFAULTS]
    assert written["rules"]["wipeout"] is None
    assert written["rules"]["challenge_penalties"] == [0, 0]
    assert written["rules"]["scoring"]["four_of_a_kind"] == {"dice": "AAAA", "points": "200A"}
    assert events.decode(events.encode(first)) == first


def test_a_start_with_a_key_of_the_rules_missing_is_refused() -> None:
    written = json.loads(events.encode(start("A B", ruleset())))
    for key in ("name", "scoring", *DEFAULTS):
        rules = {name: value for name, value in written["rules"].items() if name != key}
        assert refusal(line(**written | {"rules": rules})).startswith(f"Object missing required field '{key}'")


PLAYER = st.text(st.characters(codec="utf-8"), min_size=1, max_size=64)
DICE = st.lists(st.integers(1, 6), min_size=1, max_size=6).map(tuple)
SEQ = st.integers(1, 2**53 - 1)
TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=50)
TOTAL = st.integers(-(2**53) + 1, 2**53 - 1)
ANY_EVENT = st.one_of(
    st.builds(events.Roll, SEQ, player=PLAYER, dice=DICE, thrown_by=st.sampled_from([None, "tenklog"])),
    st.builds(events.Keep, SEQ, player=PLAYER, dice=DICE, aside=st.none() | DICE),
    st.builds(events.Bank, SEQ, player=PLAYER, points=st.integers(0, 2**53 - 1), settled=st.booleans()),
    st.builds(events.Bust, SEQ, player=PLAYER),
    st.builds(events.Undo, SEQ, of=SEQ, why=st.none() | TEXT),
    st.builds(events.Expect, SEQ, totals=st.dictionaries(PLAYER, TOTAL, max_size=20)),
    st.builds(events.Rename, SEQ, player=PLAYER, to=PLAYER),
    st.builds(events.Note, SEQ, id=st.none() | TEXT, text=TEXT),
    st.builds(events.Abandon, SEQ, why=st.none() | TEXT),
)


@given(ANY_EVENT)
def test_encode_and_decode_are_inverse(event: events.Event) -> None:
    written = events.encode(event)
    assert events.decode(written) == event
    assert events.encode(events.decode(written)) == written
    assert b"\n" not in written


# -- what is no line --------------------------------------------------------------------------------------------------

ROLL = b'{"type":"roll","seq":2,"player":"A","dice":[6,1]}'


@pytest.mark.parametrize(
    "other",
    [
        b'{"type": "roll","seq":2,"player":"A","dice":[6,1]}',
        b' {"type":"roll","seq":2,"player":"A","dice":[6,1]}',
        b'{"type":"roll","seq":2,"player":"A","dice":[6,1]} ',
        b'{"seq":2,"type":"roll","player":"A","dice":[6,1]}',
        b'{"type":"roll","seq":2,"dice":[6,1],"player":"A"}',
        b'{"type":"roll","seq":2,"player":"A","player":"A","dice":[6,1]}',
        b'{"type":"roll","seq":2,"player":"\\u0041","dice":[6,1]}',
        b'{"type":"roll","seq":2,"player":"A","dice":[6,1],"thrown_by":null}',
        b'{"type":"roll","seq":2,"time":null,"player":"A","dice":[6,1]}',
    ],
)
def test_a_line_that_encode_would_not_write_is_not_canonical(other: bytes) -> None:
    message = refusal(other)
    assert message == "is not written canonically; no spaces, the fields in their order, each once"


def test_a_line_written_by_hand_may_have_spaces_and_another_order() -> None:
    other = b'{ "seq": 2, "player": "\\u0041", "type": "roll", "dice": [6, 1] }'
    assert events.decode(other, canonical=False) == events.decode(ROLL)


def test_a_line_written_by_hand_gives_no_key_twice_at_any_depth() -> None:
    twice = b'{"type":"roll","seq":2,"player":"A","player":"B","dice":[6,1]}'
    assert refusal(twice, canonical=False) == "gives the key 'player' twice; each key once"
    deep = b'{"type":"expect","seq":2,"totals":{"A":1,"A":2}}'
    assert refusal(deep, canonical=False) == "gives the key 'A' twice; each key once"


def test_an_unknown_type_was_written_by_a_newer_tenklog() -> None:
    message = refusal(b'{"type":"coffee","seq":2}')
    assert message == "has the unknown type 'coffee'; written by a newer tenklog, or no event of it"


def test_an_unknown_field_was_written_by_a_newer_tenklog() -> None:
    message = refusal(b'{"type":"bust","seq":2,"player":"A","colour":"red"}')
    assert message == "bust has unknown field 'colour'; written by a newer tenklog, or no event of it"
    written = json.loads(events.encode(start("A B", ruleset())))
    message = refusal(line(**written | {"rules": written["rules"] | {"luck": 1}}))
    assert "unknown field 'luck'" in message
    assert message.endswith("written by a newer tenklog, or no event of it")


def test_a_newer_version_was_written_by_a_newer_tenklog() -> None:
    written = json.loads(events.encode(start("A B", ruleset())))
    message = refusal(line(**written | {"version": 2, "novelty": True}))
    assert message == "is of format version 2, written by a newer tenklog; this one reads up to 1"
    assert refusal(line(**written | {"version": 0})).startswith("Expected 'int' >= 1")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "is no JSON"),
        (b"hello", "is no JSON"),
        (b'{"type":"bust","seq":2,"player":"A"', "is no JSON"),
        (b'{"type":"bust","seq":2,"player":"\xff"}', "is no JSON"),
        (b'{"type":"bust","seq":2,"player":"\\ud800"}', "is no JSON"),
        (b'{"type":"bust","seq":2,"player":"A"}\x00', "is no JSON"),
        (b'{"x":' + b"[" * 100_000, "is nested too deeply"),
        (b"[" * 100_000, "Expected 'object', got 'array'"),
        (b'{"type":"note","seq":2,"text":' + b"[" * 100_000, "Expected 'str', got 'array' - at '$.text'"),
        (b'{"type":"bust","seq":2,"player":"A","x":' + b"[" * 100_000, "Object contains unknown field 'x'"),
        (b"[]", "Expected 'object', got 'array'"),
        (b"null", "Expected 'object', got 'null'"),
        (b"{}", "Object missing required field 'type'"),
        (b'{"type":7,"seq":2}', "Expected 'str'"),
        (b'{"type":"bust","player":"A"}', "Object missing required field 'seq'"),
        (b'{"type":"bust","seq":0,"player":"A"}', "Expected 'int' >= 1 - at '$.seq'"),
        (b'{"type":"bust","seq":-1,"player":"A"}', "Expected 'int' >= 1 - at '$.seq'"),
        (b'{"type":"bust","seq":9007199254740992,"player":"A"}', "Expected 'int' <= 9007199254740991 - at '$.seq'"),
        (b'{"type":"bust","seq":2.0,"player":"A"}', "Expected 'int', got 'float' - at '$.seq'"),
        (b'{"type":"bust","seq":"2","player":"A"}', "Expected 'int', got 'str' - at '$.seq'"),
        (b'{"type":"bust","seq":true,"player":"A"}', "Expected 'int', got 'bool' - at '$.seq'"),
        (b'{"type":"bust","seq":2,"player":""}', "Expected 'str' of length >= 1 - at '$.player'"),
        (b'{"type":"bust","seq":2,"player":"' + b"n" * 65 + b'"}', "Expected 'str' of length <= 64 - at '$.player'"),
        (b'{"type":"bank","seq":2,"player":"A","points":-1}', "Expected 'int' >= 0 - at '$.points'"),
        (b'{"type":"bank","seq":2,"player":"A","points":1e3}', "Expected 'int', got 'float' - at '$.points'"),
        (b'{"type":"bank","seq":2,"player":"A","points":9007199254740992}', "Expected 'int' <= 9007199254740991"),
        (b'{"type":"roll","seq":2,"player":"A","dice":[]}', "Expected 'array' of length >= 1 - at '$.dice'"),
        (b'{"type":"roll","seq":2,"player":"A","dice":[1,1,1,1,1,1,1]}', "Expected 'array' of length <= 6"),
        (b'{"type":"roll","seq":2,"player":"A","dice":[0]}', "Expected 'int' >= 1 - at '$.dice[0]'"),
        (b'{"type":"roll","seq":2,"player":"A","dice":[7]}', "Expected 'int' <= 6 - at '$.dice[0]'"),
        (b'{"type":"roll","seq":2,"player":"A","dice":"134"}', "Expected 'array', got 'str' - at '$.dice'"),
        (b'{"type":"roll","seq":2,"player":"A","dice":[1],"thrown_by":"me"}', "Invalid enum value 'me'"),
        (b'{"type":"note","seq":2,"text":""}', "Expected 'str' of length >= 1 - at '$.text'"),
        (b'{"type":"note","seq":2,"text":"' + b"n" * 2001 + b'"}', "Expected 'str' of length <= 2000 - at '$.text'"),
        (
            b'{"type":"note","seq":2,"id":"' + b"n" * 129 + b'","text":"x"}',
            "Expected 'str' of length <= 128 - at '$.id'",
        ),
        (b'{"type":"rule-change","seq":2,"changes":{},"scope":"next-turn"}', "Expected 'object' of length >= 1"),
        (b'{"type":"rule-change","seq":2,"changes":{"target":1.5},"scope":"next-turn"}', "Expected 'bool | int"),
        (b'{"type":"rule-change","seq":2,"changes":{"target":1},"scope":"now"}', "Invalid enum value 'now'"),
        (b'{"type":"undo","seq":2,"of":0}', "Expected 'int' >= 1 - at '$.of'"),
        (b'{"type":"expect","seq":2,"totals":{"A":1.5}}', "Expected 'int', got 'float'"),
    ],
)
def test_what_is_no_event_is_named(text: bytes, what: str) -> None:
    for canonical in (True, False):
        message = refusal(text, canonical)
        assert message.startswith(what), message
        assert "; " in message


@pytest.mark.parametrize("game", ["", "-a", "A", "a b", "../a", "a/b", "a" * 65, "ä", "a.b", "a\n", "\na", "a\x00"])
def test_a_game_id_is_no_path(game: str) -> None:
    written = json.loads(events.encode(start("A B", ruleset())))
    assert "$.game" in refusal(line(**written | {"game": game}))


def test_a_fingerprint_is_a_seq_and_a_hash() -> None:
    good = start("A", ruleset(), origin="replay", of="12:" + "0f" * 16)
    assert events.decode(events.encode(good)) == good
    for wrong in ("0:" + "0f" * 16, "12:" + "0F" * 16, "12:0f", "0f" * 16, "x:" + "0f" * 16, "12:" + "0f" * 16 + "\n"):
        written = json.loads(events.encode(good))
        assert "$.of" in refusal(line(**written | {"of": wrong}))


@pytest.mark.parametrize(
    "time",
    [
        "2026-11-29T20:15:00.000Z",
        "2024-02-29T00:00:00.000Z",
        "1999-12-31T23:59:59.999Z",
    ],
)
def test_a_time_is_utc_with_milliseconds(time: str) -> None:
    event = events.Note(2, time=time, text="x")
    assert events.decode(events.encode(event)) == event


@pytest.mark.parametrize(
    "time",
    [
        "",
        "now",
        "2026-11-29T20:15:00Z",
        "2026-11-29T20:15:00.000",
        "2026-11-29T20:15:00.0000",
        "2026-11-29 20:15:00.000Z",
        "2026-11-29T20:15:00,000Z",
        "2026-11-29T20:15:00.000z",
        "2026-11-29T20:15:00+00:0",
        "2026-02-29T20:15:00.000Z",
        "2026-13-01T20:15:00.000Z",
        "2026-11-31T20:15:00.000Z",
        "2026-11-29T24:00:00.000Z",
        "2026-11-29T25:15:00.000Z",
        "2026-11-29T20:60:00.000Z",
        "2026-11-29T20:15:60.000Z",
        "2026-W48-7T20:15:00.000Z",
        "\uff12026-11-29T20:15:00.000Z",
        "2026-11-29T20:15:00.00\u0660Z",
        "-026-11-29T20:15:00.000Z",
        "2026-11-29T20:15:00.000\n",
    ],
)
def test_any_other_time_is_refused(time: str) -> None:
    written = events.encode(events.Note(2, time=time, text="x"))
    assert refusal(written) == f"time {time!r} is no UTC time; a time such as 2026-11-29T20:15:00.000Z"


def test_of_many_times_the_wrong_one_is_named() -> None:
    good = events.Note(2, time="2026-11-29T20:15:00.000Z", text="x")
    wrong = replace(good, time="2026-11-29T20:15:00.0Z")
    events.check_times([good, events.Note(3, text="y"), good])
    with pytest.raises(DataError, match=r"^time '2026-11-29T20:15:00.0Z' is no UTC time"):
        events.check_times([good, wrong, good])


# -- the hash chain ---------------------------------------------------------------------------------------------------


def by_hand(bodies: list[bytes]) -> list[bytes]:
    """Seal lines as the design says: BLAKE2b-128 over the previous hash and the bytes before a line's last `,"h":`."""
    h, sealed = b"0" * 32, []
    for body in bodies:
        h = blake2b(h + body.removesuffix(b"}"), digest_size=16).hexdigest().encode()
        sealed.append(body.removesuffix(b"}") + b',"h":"' + h + b'"}')
    return sealed


BODIES = [b'{"type":"bust","seq":1,"player":"A"}', ROLL, '{"type":"note","seq":3,"text":"„,\\"h\\":“"}'.encode()]


def test_a_line_is_sealed_with_the_hash_of_its_bytes_chained_to_the_line_before() -> None:
    plain = [body.removesuffix(b"}") for body in BODIES]
    sealed = events.seal(plain[:1])
    sealed += events.seal(plain[1:], sealed[0][-34:-2])
    assert sealed == by_hand(BODIES)
    assert events.chained(sealed)
    assert all(json.loads(one)["h"] == one[-34:-2].decode() for one in sealed)


def test_a_sealed_line_is_taken_apart_again() -> None:
    for body, sealed in zip(BODIES, by_hand(BODIES), strict=True):
        assert events.unseal(sealed) == (body.removesuffix(b"}"), sealed[-34:-2])
        assert events.unseal(body) is None


def test_any_other_line_breaks_the_chain() -> None:
    lines = by_hand(BODIES)
    assert not events.chained([lines[1], lines[0], lines[2]])
    assert not events.chained(lines[1:])
    assert not events.chained([lines[0], lines[0], *lines[1:]])
    assert not events.chained([*lines[:2], BODIES[2]])
    for number, one in enumerate(lines):
        for place in range(len(one)):
            flipped = one[:place] + bytes([one[place] ^ 1]) + one[place + 1 :]
            assert not events.chained([*lines[:number], flipped, *lines[number + 1 :]])


# -- names and texts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "A",
        "Anna Lena",
        "007",
        "1e5",
        "-x",
        "Ünal",
        "李雷",
        "a\u200db",
        "\u0646\u06cc\u200c\u0645\u0627",
        "n" * 64,
        "=1+1",
        "a\u00a0b",
        "🎲",
    ],
)
def test_a_name_may_be_any_visible_characters(name: str) -> None:
    assert events.name(name) == name


def test_a_name_is_composed() -> None:
    assert events.name("U\u0308nal") == "\u00dcnal"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the name '' is empty; a name of 1 to 64 characters"),
        ("   ", "the name '   ' is empty; a name of 1 to 64 characters"),
        (" A", "the name ' A' has a space at an end; a name of 1 to 64 characters"),
        ("A ", "the name 'A ' has a space at an end; a name of 1 to 64 characters"),
        ("n" * 65, f"the name '{'n' * 40}' is too long; a name of 1 to 64 characters"),
        ("a\x00b", "the name 'a\\x00b' has the character U+0000; a name of visible characters"),
        ("a\tb", "the name 'a\\tb' has the character U+0009; a name of visible characters"),
        ("a\nb", "the name 'a\\nb' has the character U+000A; a name of visible characters"),
        ("a\x1b[31m", "the name 'a\\x1b[31m' has the character U+001B; a name of visible characters"),
        ("a\x7fb", "the name 'a\\x7fb' has the character U+007F; a name of visible characters"),
        ("a\x9bb", "the name 'a\\x9bb' has the character U+009B; a name of visible characters"),
        ("\u202eabc", "the name '\\u202eabc' has the character U+202E; a name of visible characters"),
        ("a\u2066b", "the name 'a\\u2066b' has the character U+2066; a name of visible characters"),
        ("a\u200eb", "the name 'a\\u200eb' has the character U+200E; a name of visible characters"),
        ("a\u200bb", "the name 'a\\u200bb' has the character U+200B; a name of visible characters"),
        ("a\ufeffb", "the name 'a\\ufeffb' has the character U+FEFF; a name of visible characters"),
        ("a\u00adb", "the name 'a\\xadb' has the character U+00AD; a name of visible characters"),
        ("a\u2028b", "the name 'a\\u2028b' has the character U+2028; a name of visible characters"),
        ("a\ud800", "the name 'a\\ud800' has the character U+D800; a name of visible characters"),
        ("\u200dA", "the name '\\u200dA' has the character U+200D; a name of visible characters"),
        ("A\u200c", "the name 'A\\u200c' has the character U+200C; a name of visible characters"),
    ],
)
def test_a_name_that_could_not_stand_in_a_table_is_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        events.name(name)
    assert str(refused.value) == message


def test_a_text_has_an_end_and_no_hidden_characters() -> None:
    assert events.text("  so it goes ", "note") == "so it goes"
    assert events.text("e\u0301", "note") == "\u00e9"
    for words, message in (
        ("", "the note is empty; 1 to 2000 characters"),
        (" ", "the note is empty; 1 to 2000 characters"),
        ("x" * 2001, "the note has 2001 characters; 1 to 2000 characters"),
        ("a\ud800", "the note has the character U+D800; text of visible characters"),
    ):
        with pytest.raises(UsageError) as refused:
            events.text(words, "note")
        assert str(refused.value) == message
