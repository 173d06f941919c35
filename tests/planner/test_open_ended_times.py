"""Times that only end or only begin: what is asked *until* a month is not what that month brought."""

from __future__ import annotations

from datetime import date

import pytest

from dofrag.domain.question import Question
from dofrag.profiles.dof.profile import DofProfile

PROFILE = DofProfile()
AS_OF = date(2031, 8, 31)
ASKED = "¿Qué acuerdos de la Secretaría de Salud se publicaron {}?"


def window(when: str) -> tuple[str | None, str | None]:
    (part,) = PROFILE.decompose(Question(text=ASKED.format(when), as_of=AS_OF))
    (requirement,) = part.requirements
    assert requirement.residue == ()
    source = requirement.source
    first, last = (None if day is None else day.isoformat() for day in (source.published_from, source.published_to))
    return first, last


@pytest.mark.parametrize(
    ("when", "first", "last"),
    [
        ("hasta junio de 2030", None, "2030-06-30"),
        ("hasta el 12 de junio de 2030", None, "2030-06-12"),
        ("hasta finales de junio de 2030", None, "2030-06-30"),
        ("hasta 2029", None, "2029-12-31"),
        ("antes de junio de 2030", None, "2030-05-31"),
        ("antes del 12 de junio de 2030", None, "2030-06-11"),
        ("previos a 2030", None, "2029-12-31"),
        ("desde junio de 2030", "2030-06-01", "2031-08-31"),
        ("desde el 12 de junio de 2030", "2030-06-12", "2031-08-31"),
        ("después de junio de 2030", "2030-07-01", "2031-08-31"),
        ("posteriores a 2029", "2030-01-01", "2031-08-31"),
        ("no después de junio de 2030", None, "2030-06-30"),
        ("a más tardar el 12 de junio de 2030", None, "2030-06-12"),
        ("no antes de junio de 2030", "2030-06-01", "2031-08-31"),
        ("en junio de 2030", "2030-06-01", "2030-06-30"),
        ("desde el 1 de marzo hasta el 30 de junio de 2030", "2030-03-01", "2030-06-30"),
        ("desde marzo de 2030 hasta junio de 2030", "2030-03-01", "2030-06-30"),
        ("desde 2028 hasta 2029", "2028-01-01", "2029-12-31"),
        ("entre marzo y junio de 2030", "2030-03-01", "2030-06-30"),
    ],
)
def test_a_time_with_one_end_is_open_at_the_other(when: str, first: str | None, last: str | None) -> None:
    assert window(when) == (first, last)


def test_a_vague_end_is_no_end() -> None:
    (part,) = PROFILE.decompose(Question(text=ASKED.format("hasta mediados de junio de 2030"), as_of=AS_OF))
    assert "mediados" in part.requirements[0].terms
