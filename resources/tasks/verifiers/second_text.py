"""A verifiers environment in a file, to start from: two texts are read, and the second one has to be written."""

import random
from collections.abc import Iterator
from difflib import SequenceMatcher

import verifiers.v1 as vf

TEXT = """
Draw a chalk line around a puddle after breakfast and look again at lunch. The water has shrunk away from your line, yet
nobody drank it and no drain is near. What happened? Water is made of pieces far too small to see, all jostling like
children in a corridor. Now and then one at the top gets a hard enough bump to escape into the air. Sunshine makes the
jostling wilder, and a breeze carries the escaped pieces off so they cannot fall back in. Piece by piece, your puddle flies.
Nobody here owns a timetable. You ask when the bus leaves and they point at the driver, who is eating. The hotel has moved,
or I have; in any case I am sleeping above a bakery, and at four each morning the floor grows warm. The mainland has gone
and so has the outer buoy, though its bell can be heard between gusts. Took the washing line in by the simple method of
watching it leave. Wind dropped as if a door had been shut. Counted the hens: six, all offended.
""".split()

PROMPT = """Text A: {first}
Text B: {second}
Write text B, and nothing else."""


class SecondConfig(vf.TasksetConfig):
    words: int = 8


class SecondData(vf.TaskData):
    answer: str


class SecondTask(vf.Task[SecondData]):
    @vf.reward(weight=0.75)
    async def similar(self, trace: vf.Trace) -> float:
        """How much of the answer is the text, word for word."""
        return SequenceMatcher(None, self.data.answer.split(), trace.last_reply.split(), autojunk=False).ratio()

    @vf.reward(weight=0.25)
    async def exact(self, trace: vf.Trace) -> float:
        return float(trace.last_reply.split() == self.data.answer.split())


class SecondTaskset(vf.Taskset[SecondTask, SecondConfig]):
    def load(self) -> Iterator[SecondTask]:
        words, chance = self.config.words, random.Random(0)
        for _ in range(1000):
            first, second = (chance.randrange(len(TEXT) - words) for _ in range(2))
            texts = [" ".join(TEXT[at : at + words]) for at in (first, second)]
            prompt = PROMPT.format(first=texts[0], second=texts[1])
            yield SecondTask(SecondData(prompt=prompt, answer=texts[1]), self.config.task)


__all__ = ["SecondTaskset"]
