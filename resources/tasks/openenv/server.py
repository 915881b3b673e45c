"""An OpenEnv server: python3 server.py PORT (needs python3 -m pip install openenv-core==0.3.0).

A prompter: after the model has begun, it says a word of the text, and the model has to continue from there to the end,
and then once more from another word. Each is worth a half if it is right word for word; whoever misses one is out, with
up to a quarter for the words that are right.
"""

import random
import sys

try:
    import uvicorn
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, Observation, State
except ImportError:
    sys.exit("openenv-core isn't installed for this Python: python3 -m pip install openenv-core==0.3.0")


class Said(Action):
    """What the player says."""

    text: str


class Prompted(Observation):
    """What the prompter says."""

    line: str


class Prompter(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, seed: int = 0, episode_id: str | None = None, text: str = "", **_) -> Prompted:
        self._state = State(episode_id=episode_id)
        words = text.split()
        # Words that are in the text once, and have words after them.
        single = [i for i, word in enumerate(words[:-2]) if words.count(word) == 1]
        random.Random(seed).shuffle(single)
        self._rests = [(words[i], words[i + 1 :]) for i in single[:2]]
        return Prompted(line="Begin.")

    def step(self, action: Said, **_) -> Prompted:
        self._state.step_count += 1
        turn = self._state.step_count
        if turn == 1:
            return Prompted(line=f"The word is {self._rests[0][0]}")
        rest, said = self._rests[turn - 2][1], action.text.split()
        if said != rest:
            right = sum(a == b for a, b in zip(said, rest)) / max(len(said), len(rest))
            return Prompted(line="That was wrong.", reward=right / 4, done=True)
        if turn == 2:
            return Prompted(line=f"The word is {self._rests[1][0]}", reward=0.5)
        return Prompted(line="Right.", reward=0.5, done=True)

    @property
    def state(self) -> State:
        return self._state


if __name__ == "__main__":
    app = create_fastapi_app(Prompter, Said, Prompted, max_concurrent_envs=1024)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
