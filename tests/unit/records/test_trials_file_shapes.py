"""Files as people have them: the same trials whatever the form, or one message with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.records.own_files.trials_file import read_trials

SYSTEMS = "abbabaabbaababbaabab"
VALUES = [100.0 + (7 * at % 11) / 4 for at in range(len(SYSTEMS))]
ROWS = [[str(at), name, f"{value}"] for at, (name, value) in enumerate(zip(SYSTEMS, VALUES), 1)]  # noqa: B905
HEADER = ["order", "system", "response"]
PLAIN = "\n".join(",".join(row) for row in [HEADER, *ROWS]) + "\n"


def table(rows: Iterable[Iterable[str]], header: Iterable[str] = HEADER, by: str = ",") -> str:
    return "\n".join(by.join(row) for row in [header, *rows]) + "\n"


def each(change: Callable[[str, str, str], Iterable[str]], *further: str, by: str = ",") -> str:
    return table((change(*row) for row in ROWS), [*HEADER, *further], by)


def at(line: int, text: str) -> str:
    """The plain file with another text in one line, counted from 1."""
    lines = PLAIN.splitlines()
    return "\n".join([*lines[: line - 1], text, *lines[line:]]) + "\n"


SAME: dict[str, str | bytes] = {
    "plain": PLAIN,
    "CRLF": PLAIN.replace("\n", "\r\n"),
    "CR": PLAIN.replace("\n", "\r"),
    "byte order mark": PLAIN.encode("utf-8-sig"),
    "semicolons": PLAIN.replace(",", ";"),
    "tabs": PLAIN.replace(",", "\t"),
    "from last to first": table(reversed(ROWS)),
    "columns in another order": table((row[::-1] for row in ROWS), HEADER[::-1]),
    "a hundred columns": each(
        lambda *row: [*row, *["x"] * 97], *(f"further {n}" for n in range(97))
    ),
    "blank lines": PLAIN.replace("\n", "\n\n"),
    "no line break at the end": PLAIN.rstrip("\n"),
    "all in quotes": each(lambda *row: [f'"{field}"' for field in row]),
    "blanks around": each(lambda *row: [f" {field} " for field in row]),
    "a separator in quotes": each(lambda *row: [*row, '"x, y"'], "note"),
    "a line break in quotes": each(lambda *row: [*row, '"x\ny"'], "note"),
    "a CRLF in quotes": each(lambda *row: [*row, '"x\r\ny"'], "note"),
    "quotes in quotes": each(lambda *row: [*row, '"say ""so"""'], "note"),
    "a quote within a field": each(lambda *row: [*row, '5" disk'], "note"),
    "a last column that is empty": each(lambda *row: [*row, ""], "note"),
    "exponents": each(lambda o, s, y: [o, s, f"{float(y):.10e}"]),
    "plus signs": each(lambda o, s, y: [o, s, f"+{y}"]),
    "leading zeros": each(lambda o, s, y: [f"00{o}", s, y]),
    "order from 0": each(lambda o, s, y: [str(int(o) - 1), s, y]),
    "order by tens": each(lambda o, s, y: [f"{o}0", s, y]),
    "order in seconds": each(lambda o, s, y: [f"17000{int(o) * 37:05}.5", s, y]),
    "times": each(lambda o, s, y: [f"2026-11-23T14:{int(o):02}:07", s, y]),
    "times in UTC": each(lambda o, s, y: [f"2026-11-23T14:{int(o):02}:07.25Z", s, y]),
    "times with a blank and a zone": each(
        lambda o, s, y: [f"2026-11-23 14:{int(o):02}:07+02:00", s, y]
    ),
}


@pytest.mark.parametrize("shape", SAME)
def test_the_same_trials_are_read_whatever_their_form(tmp_path: Path, shape: str) -> None:
    path, content = tmp_path / "trials.csv", SAME[shape]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = read_trials(path, "response")
    found.refuse_gaps()
    assert found.texts("system") == list(SYSTEMS)
    assert found.numbers("response") == VALUES
    assert len(set(found.order)) == len(ROWS)


MANY = [[str(n), "ab"[(n * n // 7) % 2], str(100 + n % 13)] for n in range(1, 30_000)]
REFUSED: dict[str, tuple[str | bytes, str, str]] = {
    "empty": ("", "1:1", "the file is empty"),
    "blank lines alone": ("\n \n\n", "1:1", "the file is empty"),
    "latin-1": (PLAIN.replace("a", "ä").encode("latin-1"), "1:1", "not UTF-8"),
    "UTF-16": (PLAIN.encode("utf-16"), "1:1", "not UTF-8"),
    "UTF-16 without a mark": (PLAIN.encode("utf-16-le"), "1:1", "not UTF-8"),
    "a program": (b"\x7fELF\x02\x01\x01\x00\x00", "1:1", "not UTF-8"),
    "a header alone": ("order,system,response\n", "1:1", "there is no trial"),
    "no header": (
        table(ROWS[1:], ROWS[0]),
        "1:1",
        "no column `order` and none `system` and none `response`",
    ),
    "no order": (PLAIN.replace("order", "number"), "1:1", "no column `order`"),
    "no system": (PLAIN.replace("system", "name"), "1:1", "no column `system`"),
    "no response": (PLAIN.replace("response", "speed"), "1:1", "no column `response`"),
    "a column twice": (each(lambda *r: [*r, "x"], "order"), "1:23", "stands there twice"),
    "a row too long": (at(5, "4,a,101,9"), "5:5", "4 fields where the header has 3"),
    "a row too short": (at(5, "4,a"), "5:3", "2 fields where the header has 3"),
    "decimal commas between commas": (
        each(lambda o, s, y: [o, s, y.replace(".", ",")]),
        "2:5",
        "4 fields where the header has 3 (and 19 more rows alike)",
    ),
    "decimal commas": (
        each(lambda o, s, y: [o, s, y.replace(".", ",")], by=";"),
        "2:5",
        "`100,0` has a decimal comma (and 19 more rows alike)",
    ),
    "thousands": (each(lambda o, s, y: [o, s, f'"1,0{y}"']), "2:5", "`1,0100.0` is not a number"),
    "an underscore": (at(5, "4,a,1_000"), "5:5", "`1_000` is not a number"),
    "Arabic digits": (at(5, "4,a,١٢٣"), "5:5", "`١٢٣` is not a number"),
    "wide digits": (at(5, "4,a,１００"), "5:5", "is not a number"),
    "hexadecimal": (at(5, "4,a,0x64"), "5:5", "`0x64` is not a number"),
    "a unit": (each(lambda o, s, y: [o, s, f"{y} ms"]), "2:5", "(and 19 more rows alike)"),
    "a word": (at(5, "4,a,failed"), "5:5", "`failed` is not a number"),
    "a dash": (at(5, "4,a,-"), "5:5", "`-` is not a number"),
    "not a number": (at(5, "4,a,NaN"), "5:5", "`NaN` is not a number"),
    "infinity": (at(5, "4,a,inf"), "5:5", "`inf` is not a number"),
    "beyond 64 bits": (at(5, "4,a,1e999"), "5:5", "the response is not finite"),
    "zero": (at(5, "4,a,0"), "5:5", "trial 4: the response is zero"),
    "negative": (at(5, "4,a,-3"), "5:5", "trial 4: the response is negative"),
    "nothing": (at(5, "4,a,"), "5:5", "no `response`"),
    "no name": (at(5, "4,,101"), "5:3", "no `system`"),
    "no number": (at(5, ",a,101"), "5:1", "no `order`"),
    "constant": (each(lambda o, s, _: [o, s, "7"]), "1:14", "the same in all trials"),
    "far apart": (
        each(lambda o, s, _: [o, s, f"{o}e{'-300' if s == 'a' else '300'}"]),
        "3:5",
        "too far from those of `a`",
    ),
    "a slip of a digit": (at(3, "2,b,1010000"), "3:5", "too far from those of `a`"),
    "two trials": (table(ROWS[:2]), "1:7", "2 visits of `a` and `b` together are too few"),
    "seven trials": (table(ROWS[:7]), "1:7", "7 visits of `a` and `b` together are too few"),
    "one system": (each(lambda o, _, y: [o, "a", y]), "1:7", "all trials are of one system"),
    "three systems": (at(5, "4,c,101"), "1:7", "3 systems (a, b, c) need a design"),
    "a row twice": (table([*ROWS, ROWS[3]]), "22:3", "have one number"),
    "one after the other": (
        table([o, "ab"[n >= 10], y] for n, (o, _, y) in enumerate(ROWS)),
        "4:3",
        "at trial 3 one system leads by 3 visits",
    ),
    "in turn": (
        table([str(n), "ab"[n % 2], str(100 + n % 7)] for n in range(40)),
        "1:7",
        "the order repeats every 2 visits",
    ),
    "in turn, a dozen": (
        table([str(n), "ab"[n % 2], str(100 + n % 7)] for n in range(12)),
        "1:7",
        "the order repeats every 2 visits: random assignment does that once in 1,024 times",
    ),
    "two and two": (
        table([str(n), "aabb"[n % 4], str(100 + n % 7)] for n in range(24)),
        "1:7",
        "the order repeats every 4 visits",
    ),
    "JSON": ('{"order": 1}\n', "1:1", "no column `order`"),
    "a page": ("<html><body>404</body></html>", "1:1", "no column `order`"),
    "an order twice and one left out": (at(7, "5,a,101"), "7:3", "have one number"),
    "an order as dates of a country": (
        each(lambda o, s, y: [f"23.11.2026 14:{int(o):02}", s, y]),
        "2:1",
        "is not a number (and 19 more rows alike)",
    ),
    "one left out": (table(ROWS[:4] + ROWS[5:]), "6:1", "visits were left out: 5"),
    "several left out": (
        table(row for row in ROWS if row[0] not in {"3", "8", "9", "14"}),
        "4:1",
        "visits were left out: 3, 8, 9 and 1 more",
    ),
    "times and numbers": (at(5, "2026-11-23T14:05:00,a,101"), "2:1", "no time as the others"),
    "times of two kinds": (
        each(lambda o, s, y: [f"2026-11-23T14:{int(o):02}{'Z' if o == '7' else ''}", s, y]),
        "8:1",
        "no time as the others",
    ),
    "an order in words": (each(lambda o, s, y: [f"run {o}", s, y]), "2:1", "is not a number"),
    "an open quote": (at(5, '4,a,"101'), "5:5", "a quote is opened here and not closed"),
    "a quote that ends early": (at(5, '4,"a"b,101'), "5:3", "a quote is opened here"),
    "more trials than are judged": (table(MANY), "30000:1", "29,999 visits of two systems"),
    "more trials than are judged, counted before a number is read": (
        table([*MANY, ["30000", "a", "x"]]),
        "30001:1",
        "30,000 rows hold 30,000 visits of two systems",
    ),
    "every request a row": (
        PLAIN + "21,a,3\n" * 200_000,
        "100002:1",
        "more than 100,000 rows",
    ),
    "a covariate of zero": (
        each(lambda *row: [*row, "0"], "covariate"),
        "2:",
        "the covariate is zero",
    ),
    "a covariate that names the system": (
        each(lambda o, s, y: [o, s, y, "12"["ab".index(s)]], "covariate"),
        "1:23",
        "the covariate has one value for each system",
    ),
    "a load twice in a visit": (
        each(lambda o, _, y: [str(-int(o) // 2), "ab"[-int(o) // 2 % 2], y, "8"], "load"),
        "21:14",
        "hold a load twice",
    ),
}


@pytest.mark.parametrize("shape", REFUSED)
def test_what_cannot_be_judged_is_one_message_with_its_place(tmp_path: Path, shape: str) -> None:
    content, place, said = REFUSED[shape]
    path = tmp_path / "trials.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    ended = CliRunner().invoke(app, ["judge", str(path), "--baseline", "a"])
    assert ended.exit_code == 2, ended.output
    places = re.findall(r"trials\.csv:(\d+:\d+): ", ended.stderr)
    assert len(places) == 1, ended.stderr
    assert places[0].startswith(place)
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) > 1, "a message has a hint"


def test_there_are_as_many_shapes_as_people_were_seen_to_have() -> None:
    assert len(SAME) + len(REFUSED) >= 60
