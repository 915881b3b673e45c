"""Stores in fixtures/jinja.json what Jinja2, set up as transformers does for chat templates, makes of templates: every
tag, operator, filter, test, method, form of white space and number, and of templates in the manner of model families.

Run from the repository root: python tests/parity/jinja.py   (pip install transformers jinja2)
"""

import copy
import datetime
import itertools
import json
import pathlib
import re
import sys

from transformers.utils import chat_template_utils

from jinja_cases import CASES, FAMILIES, GRIDS, VALUES

FIXTURES = pathlib.Path(__file__).parent / "fixtures"


class Pinned(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2024, 7, 26, tzinfo=tz)


def render(template: str, values: dict) -> str | None:
    """What it makes; None if it fails, or prints an address, which differs from run to run."""
    try:
        # Some filters change the lists that they are given.
        text = chat_template_utils._compile_jinja_template(template).render(**copy.deepcopy(values))
    except Exception:
        return None
    return None if re.search(r" at 0x[0-9a-f]+>", text) else text


def grid(template: str, parts: list[list[str]]) -> list[str | None]:
    """One result for each way to fill ①, ② and ③ with the parts."""
    results = []
    for chosen in itertools.product(*parts):
        filled = template
        for mark, part in zip("①②③", chosen):
            filled = filled.replace(mark, part)
        results.append(render(filled, VALUES))
    return results


def main() -> None:
    chat_template_utils.datetime = Pinned
    sys.set_int_max_str_digits(4300)
    cases = [[template, render(template, VALUES)] for template in dict.fromkeys(CASES)]
    families = [
        dict(name=name, template=template, chats=[[values, render(template, values)] for values in chats])
        for name, (template, chats) in FAMILIES.items()
    ]
    grids = [dict(template=template, parts=parts, results=grid(template, parts)) for template, *parts in GRIDS]
    stored = dict(values=VALUES, cases=cases, grids=grids, families=families)
    (FIXTURES / "jinja.json").write_text(json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
