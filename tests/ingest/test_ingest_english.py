"""Another gazette, invented and English, passes through the same code with an anatomy of its own."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from ingest_helpers import parse_all

from dofrag.domain.corpus import Kind, SourceFile
from dofrag.profiles.anatomy import Anatomy, load_anatomy

ANATOMY = r"""
country = ["Kingdom of Fens"]
[paths]
publication = '(?P<position>\d+)_(?P<kind>DOF|AVISO)_(?P<date>\d{8})_(?P<edition>[A-Z]{3})_(?P<code>\w+)'
edition = '(?P<date>\d{8})-(?P<edition>DAY)(?:\.(?P<tool>\w+))?'
excerpt = '(?P<date>\d{8})-(?P<edition>DAY)-p\d+'
note = 'note_(?P<code>\d+)'
dated = '(?P<date>\d{8})(?:_(?P<code>\d+))?'
catalogue = "_laws.json"
official_code = '\d+'
date_order = "ymd"
url = "https://gazette.invalid/{code}/{date:%Y-%m-%d}"
[catalogue]
key = "slug"
name = "name"
first = "first"
last = "last"
[conversions]
"" = 0
other = 1
[lines]
section = 'PART (?:ONE|TWO)'
branch = 'THE CROWN|PARLIAMENT'
branch_any_case = '(?i:the crown|parliament)'
agency = '(?:MINISTRY|BOARD|OFFICE) OF\b'
running = '(?:Page \d+|THE FEN GAZETTE|\s)++'
noise = '[-_=\s]+'
seal = '(?i:given under the seal)'
seal_says = '(?i:given under the seal of)\s(?P<says>.{3,100})'
arms = '(?i:royal arms)'
closing = '(?i:\(signed\)\W*$)'
notice_section = 'PUBLIC NOTICES'
notice_end = '\(N-\d+\)\W*$'
notice_opening = '(?i:kingdom of fens)'
notice_title = '(?:TENDER|SUMMONS)\b'
gazette = '(?i:the fen gazette)'
continues = '(?:TO|FOR)\s'
autonomous = 'BOARD OF TIDES'
own_notice = 'NOTICE TO READERS'
index = 'INDEX'
contents = 'CONTENTS'
edition_head = '(?i:issue no\.)'
disclaimer = '(?i:this is a copy)'
[title]
opening = '(?:[A-Z]{3,}\s+){1,4}[a-z(]'
openers = '(?:ORDER|ACT|RATE|REGULATIONS)\b'
stop = '(?:SECTION|PART|SCHEDULE)\s'
fragment = '(?:[IVX]{1,5}|[A-Z]|\d{1,3})[.)]'
[[instruments]]
name = "*"
pattern = '(?P<word>[A-Za-z]{3,})'
[dates]
months = ["january", "february", "march", "april", "may", "june", "july", "august",
          "september", "october", "november", "december"]
published = ['Published (?P<d>\d{1,2}) (?P<m>[A-Za-z]+) (?P<y>\d{4})']
any = '(?P<d>\d{1,2})/(?P<m>\d{1,2})/(?P<y>\d{4})'
long = '(?P<d>\d{1,2}) (?P<m>[A-Za-z]+) (?P<y>\d{4})'
signed = 'Done on (?P<d>\d{1,2}) (?P<m>[A-Za-z]+) (?P<y>\d{4})'
signed_notice = "Dated by its signature."
[consolidated]
code = "ACT"
mark = '(?i:consolidated text)'
first = '(?i:first published)'
last = '(?i:last amended)'
amended = '(?i:amended by)'
notice = '(?i:declared void)'
issuers = [["PARLIAMENT", '(?i:be it enacted by parliament)']]
[[structure]]
rank = 1
pattern = '(?i:schedule)\b.{0,20}'
[transitory]
cue = '(?i:comes into force)'
heading = '(?i:transitional provisions)'
reforms = '(?i:transitional provisions of amending acts)'
inner = '(?:ACT|CODE) OF [A-Z ]{6,80}'
decree = '(?:ACT|ORDER)\s'
[identifiers]
own_title = '(?i:standard)'
standard = 'FS-\d+-\d{4}'
own_lines = '(?i:order|act)\s+(?:no\.\s+)?(?P<id>\d{1,4}/\d{4})'
"""

EDITION = """\
Issue no. 9
CONTENTS
Ministry of Reeds

THE CROWN
MINISTRY OF REEDS
ORDER setting the height of reeds.
Given under the seal of the Ministry of Reeds.
Order 4/2031
Reeds are two yards high. (signed)
BOARD OF TIDES
RATE of the tide for March.
Given under the seal of the Board of Tides.
The rate is 4.5. (signed)
PUBLIC NOTICES
Harbour Company
TENDER
Ropes wanted.
(N-1)
INDEX
The Crown
Order setting the height of reeds .... 1
"""


class FenProfile:
    """The part of a profile that parsing needs."""

    def __init__(self) -> None:
        self.anatomy: Anatomy = load_anatomy(ANATOMY)

    def identifiers(self, text: str) -> tuple[str, ...]:
        return tuple(m["id"] for m in self.anatomy.own_lines.finditer(text))

    def official_url(self, code: str, published_on: date) -> str | None:
        return None


def source(tmp_path: Path, name: str, text: str, **values: object) -> SourceFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return SourceFile(path=path, rel=name, format="markdown", **values)  # type: ignore[arg-type]


def test_an_english_edition(tmp_path: Path) -> None:
    day = {"published_on": date(2031, 3, 4), "edition": "DAY", "edition_key": "20310304-DAY"}
    found = parse_all(source(tmp_path, "20310304-DAY.md", EDITION, **day), FenProfile())
    assert [(p.header.code, p.header.kind, p.header.issuer, p.header.title) for p in found] == [
        ("DAY-20310304-000", Kind.INDICE, "", "Issue no. 9"),
        ("DAY-20310304-001", Kind.DOF, "MINISTRY OF REEDS", "ORDER setting the height of reeds"),
        ("DAY-20310304-002", Kind.DOF, "BOARD OF TIDES", "RATE of the tide for March"),
        ("DAY-20310304-003", Kind.AVISO, "Harbour Company", "TENDER"),
        ("DAY-20310304-000-2", Kind.INDICE, "", "INDEX"),
    ]
    assert found[1].header.identifiers == ("4/2031",)
    assert (found[1].header.branch, found[2].header.branch) == ("THE CROWN", None)


def test_english_notes_and_acts(tmp_path: Path) -> None:
    text = "# MINISTRY OF REEDS\n\n## ORDER setting the width of reeds.\n\nPublished 5 May 2031\n\nReeds are wide.\n"
    (note,) = parse_all(source(tmp_path, "a.md", text), FenProfile())
    assert (note.header.issuer, note.header.title) == ("MINISTRY OF REEDS", "ORDER setting the width of reeds")
    assert (note.header.published_on, note.header.instrument) == (date(2031, 5, 5), "ORDER")
    law = "# ACT on Reeds\n\nConsolidated text. First published 2 May 1980. Last amended 3/06/1990\n\n"
    law += "Be it enacted by Parliament:\n"
    (act,) = parse_all(source(tmp_path, "REEDS_act.md", law), FenProfile())
    assert (act.header.code, act.header.issuer, act.header.kind) == ("ACT-REEDS", "PARLIAMENT", Kind.LEY)
    assert (act.header.first_published_on, act.header.last_reform_on) == (date(1980, 5, 2), date(1990, 6, 3))
