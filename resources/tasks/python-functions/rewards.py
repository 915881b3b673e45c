"""Reward functions: replace them by your own. Functions alone, as this file is imported: no trainer is built here."""

import re

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def correct(prompts, completions, answer, **kwargs):
    """TRL: lists in, a list of numbers out. Every field of the record is a column; completions are messages."""
    found = [ANSWER.search(completion[0]["content"]) for completion in completions]
    return [1.0 if text and text[1].strip() == right else 0.0 for text, right in zip(found, answer)]


def marked(completions, **kwargs):
    """The same with completions as texts."""
    return [1.0 if re.match(r"\s*<reasoning>.*</reasoning>\s*<answer>.*</answer>\s*$", text, re.DOTALL) else 0.0 for text in completions]
