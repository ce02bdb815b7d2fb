"""Facts with their periods and claims with labelled evidence, read from public data sets."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graphmem.errors import ConfigurationError

FILES = {
    "DyKnow": "dyknow/slots.json",
    "Wikidata": "mmkb/wiki_valid.txt",
    "YAGO15k": "mmkb/yago15k_valid.txt",
    "YAGO": "yago/valid.txt",
    "TimeQA": "timeqa/human_annotated_train.json",
    "HealthVer": "healthver/healthver_dev.csv",
    "Climate-FEVER": "climate_fever/climate-fever.jsonl",
    "VitaminC": "vitaminc/real.jsonl",
}

# Measured values: each is the one in force until the next measurement (population, Elo rating,
# ranking, area, number of students, houses).
WIKIDATA_MEASURED = frozenset({"P1082", "P1087", "P1352", "P2046", "P2196", "P4080"})
YAGO_SINGLE = frozenset({"<wasBornIn>", "<diedIn>", "<isMarriedTo>"})
YAGO_YEAR_ZERO = 1830
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
YEAR = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Period:
    """A value and its period: from `since` until just before `until`."""

    value: str
    since: datetime
    until: datetime
    """If the source has no end: the start of the next value, or a year after `since`."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The values of one property of a subject, one at a time, in order."""

    source: str
    name: str
    periods: Sequence[Period]


@dataclass(frozen=True, slots=True)
class Labelled:
    """One piece of evidence about a claim: +1 supports, -1 refutes."""

    polarity: int
    votes: tuple[int, ...] = ()
    """Votes of the annotators, where known: +1, -1, and 0 for neutral."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its evidence, oldest first where the source has an order."""

    pieces: Sequence[Labelled]
    label: str = ""
    """The source's own verdict on the claim; empty if it has none."""


def data_folder(folder: Path | None) -> Path:
    """Return the given folder, or the one named by GRAPHMEM_DATA, or ../shared/data.

    Raises:
        ConfigurationError: The folder lacks a required file.
    """
    folder = folder or Path(os.environ.get("GRAPHMEM_DATA", "../shared/data"))
    missing = [name for name in FILES.values() if not (folder / name).is_file()]
    if missing:
        raise ConfigurationError(
            f"{folder.absolute()} does not contain {missing[0]}.",
            hint="Set --data or GRAPHMEM_DATA to the folder that contains the data sets. Most of "
            "their licences do not permit shipping them with graphmem.",
        )
    return folder


def slots(folder: Path) -> list[Slot]:
    """Return the slots of all five sources, each with one value at a time.

    A slot with overlapping periods has several values at once and is left out.
    """
    raw = itertools.chain(
        dyknow(json.loads((folder / FILES["DyKnow"]).read_text("utf-8"))),
        wikidata(_lines(folder / FILES["Wikidata"])),
        yago15k(_lines(folder / FILES["YAGO15k"])),
        yago(_lines(folder / FILES["YAGO"]), _lines(folder / FILES["YAGO"], "relation2id.txt")),
        timeqa(json.loads((folder / FILES["TimeQA"]).read_text("utf-8"))),
    )
    return [slot for slot in raw if slot.periods]


def claims(folder: Path) -> tuple[list[Claim], list[Claim], list[Claim]]:
    """Return the claims of HealthVer, Climate-FEVER and VitaminC."""
    with (folder / FILES["HealthVer"]).open(encoding="utf-8", newline="") as lines:
        found = healthver(lines)
    return (
        found,
        climate_fever(_lines(folder / FILES["Climate-FEVER"])),
        vitaminc(_lines(folder / FILES["VitaminC"])),
    )


def dyknow(tree: Mapping[str, Any], name: str = "") -> Iterator[Slot]:
    """Yield the slots of DyKnow; unknown months and days count as the first."""
    for key, node in tree.items():
        path = f"{name}/{key}"
        if "answers" not in node:
            yield from dyknow(node, path)
            continue
        dated: list[tuple[str, datetime, datetime | None]] = []
        for answer in node["answers"]:
            value, *marks = (part.strip() for part in answer.split("|"))
            dates = {mark[0]: _date(mark[2:].strip()) for mark in marks}
            if "S" in dates:
                dated.append((value, dates["S"], dates.get("E")))
        yield _slot("DyKnow", path, dated)


def wikidata(lines: Iterable[str]) -> Iterator[Slot]:
    """Yield measured values (each until the next) and teams with known start and end."""
    facts = _facts(line.split("\t") for line in lines)
    for (subject, relation), values in facts.items():
        if relation in WIKIDATA_MEASURED:
            yield _measured("Wikidata", f"{subject} {relation}", values)
        elif relation == "P54":
            yield _bounded("Wikidata", f"{subject} {relation}", values)


def yago15k(lines: Iterable[str]) -> Iterator[Slot]:
    """Yield marriages and teams with known start and end."""
    facts = _facts(line.split("\t") for line in lines)
    for (subject, relation), values in facts.items():
        if relation in {"<isMarriedTo>", "<playsFor>"}:
            yield _bounded("YAGO15k", f"{subject} {relation}", values)


def yago(lines: Iterable[str], relations: Iterable[str]) -> Iterator[Slot]:
    """Yield the yearly facts of birth, death and marriage, as runs of years.

    A subject with two values in one year is left out.
    """
    names = {number: name for name, number in (line.split("\t") for line in relations)}
    years: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for line in lines:
        subject, relation, value, year = line.split("\t")[:4]
        if names[relation] in YAGO_SINGLE:
            years[f"{subject} {names[relation]}"][YAGO_YEAR_ZERO + int(year)].add(value)
    for name, by_year in years.items():
        if all(len(values) == 1 for values in by_year.values()):
            dated = [(by_year[y].copy().pop(), datetime(y, 1, 1, tzinfo=UTC)) for y in by_year]
            yield _until_next("YAGO", name, dated)


def timeqa(items: Sequence[Mapping[str, Any]]) -> Iterator[Slot]:
    """Yield the properties whose questions name a period and have exactly one answer."""
    for item in items:
        dated: list[tuple[str, datetime, datetime | None]] = []
        for question, answers in item["questions"]:
            period = re.search(
                r"(?:from|between) (?:([A-Z][a-z]{2}) )?(\d{4}) (?:to|and) "
                r"(?:([A-Z][a-z]{2}) )?(\d{4})",
                question,
            )
            if period and len(answers) == 1 and answers[0]["answer"]:
                first, last = _month(period[1], period[2]), _month(period[3], period[4])
                dated.append((answers[0]["answer"].casefold(), first, last))
        yield _slot("TimeQA", item["index"], dated)


def healthver(lines: Iterable[str]) -> list[Claim]:
    """Return the claims of HealthVer with the labels of their evidence; Neutral is ignored."""
    polarity = {"Supports": 1, "Refutes": -1}
    by_claim: dict[str, list[Labelled]] = defaultdict(list)
    for row in csv.DictReader(lines):
        if row["label"] in polarity:
            by_claim[row["claim"].strip().casefold()].append(Labelled(polarity[row["label"]]))
    return [Claim(pieces) for pieces in by_claim.values()]


def climate_fever(lines: Iterable[str]) -> list[Claim]:
    """Return the claims of Climate-FEVER with the votes on each piece of evidence."""
    vote = {"SUPPORTS": 1, "REFUTES": -1, "NOT_ENOUGH_INFO": 0}
    claims = []
    for line in lines:
        item = json.loads(line)
        pieces = []
        for evidence in item["evidences"]:
            votes = tuple(vote[v] for v in evidence["votes"] if v)
            pieces.append(Labelled((sum(votes) > 0) - (sum(votes) < 0), votes))
        claims.append(Claim(pieces, item["claim_label"]))
    return claims


def vitaminc(lines: Iterable[str]) -> list[Claim]:
    """Return the claims of VitaminC with evidence from two or more revisions, oldest first."""
    polarity = {"SUPPORTS": 1, "REFUTES": -1}
    by_claim: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
    for line in lines:
        item = json.loads(line)
        if item["label"] in polarity:
            # Within a case, an odd number is the text before the edit and an even one the text
            # after it.
            after = 1 - int(item["unique_id"].rpartition("_")[2]) % 2
            order = (int(item["wiki_revision_id"]), after, polarity[item["label"]])
            by_claim[item["page"], item["claim"]].append(order)
    return [
        Claim([Labelled(polarity) for _, _, polarity in sorted(order)])
        for order in by_claim.values()
        if len(order) > 1
    ]


def _facts(rows: Iterable[Sequence[str]]) -> dict[tuple[str, str], dict[str, dict[str, int]]]:
    """Return {subject, relation: {value: {"since" or "until": year}}} of the dated rows."""
    facts: dict[tuple[str, str], dict[str, dict[str, int]]] = defaultdict(dict)
    for row in rows:
        if len(row) == 5 and (year := re.search(r"\d{4}", row[4])):
            kind = "since" if "Since" in row[3] else "until"
            facts[row[0], row[1]].setdefault(row[2], {})[kind] = int(year[0])
    return facts


def _measured(source: str, name: str, values: Mapping[str, Mapping[str, int]]) -> Slot:
    """Return the slot of measurements; a year with two measurements is ambiguous and dropped."""
    by_year: dict[int, list[str]] = defaultdict(list)
    for value, ends in values.items():
        by_year[min(ends.values())].append(value)
    dated = [
        (found[0], datetime(year, 1, 1, tzinfo=UTC))
        for year, found in by_year.items()
        if len(found) == 1
    ]
    return _until_next(source, name, dated)


def _bounded(source: str, name: str, values: Mapping[str, Mapping[str, int]]) -> Slot:
    """Return the slot of the values with known start and end."""
    return _slot(
        source,
        name,
        [
            (v, datetime(e["since"], 1, 1, tzinfo=UTC), datetime(e["until"], 1, 1, tzinfo=UTC))
            for v, e in values.items()
            if {"since", "until"} <= e.keys() and e["since"] < e["until"]
        ],
    )


def _until_next(source: str, name: str, dated: Sequence[tuple[str, datetime]]) -> Slot:
    """Return the slot of dated values; equal neighbours are merged."""
    runs = itertools.groupby(sorted(dated, key=lambda d: d[1]), key=lambda d: d[0])
    return _slot(source, name, [(value, next(found)[1], None) for value, found in runs])


def _slot(source: str, name: str, dated: Sequence[tuple[str, datetime, datetime | None]]) -> Slot:
    """Return the slot; it has no periods if two of them overlap or start together."""
    ordered = sorted(dated, key=lambda d: d[1])
    periods: list[Period] = []
    for n, (value, since, end) in enumerate(ordered):
        following = ordered[n + 1][1] if n + 1 < len(ordered) else None
        if (end and end < since) or (
            following and (following == since or (end or since) > following)
        ):
            return Slot(source, name, [])
        # A period that ends on the day on which it starts is valid on that day.
        until = max(end, since + timedelta(days=1)) if end else following or since + YEAR
        until = min(until, following) if following else until
        periods.append(Period(value, since, until))
    return Slot(source, name, periods)


def _date(text: str) -> datetime:
    """Return the date of "+2017-00-00T00:00:00Z"."""
    year, month, day = (int(part) for part in text.lstrip("+").partition("T")[0].split("-"))
    return datetime(year, month or 1, day or 1, tzinfo=UTC)


def _month(name: str | None, year: str) -> datetime:
    month = MONTHS.index(name) + 1 if name in MONTHS else 1
    return datetime(int(year), month, 1, tzinfo=UTC)


def _lines(path: Path, sibling: str | None = None) -> list[str]:
    path = path.with_name(sibling) if sibling else path
    # Not splitlines: a text may contain a Unicode line separator.
    return path.read_text("utf-8").rstrip("\n").split("\n")
