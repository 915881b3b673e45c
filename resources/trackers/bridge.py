"""Sends a run of Braid to a tracker by its own client: python3 bridge.py trackio|wandb.

One JSON object a line comes in, {"op": "open" | "log" | "table" | "close", ...}, and one line answers each:
{"ok": true, ...} or {"error": "..."}. Numbers that JSON doesn't have come as "NaN", "Infinity" and "-Infinity".
"""

import json
import os
import sys

answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
os.dup2(2, 1)  # What a client prints belongs to the error output.


def number(value):
    return float(value) if isinstance(value, str) else value


class Trackio:
    def __init__(self):
        import trackio

        self.client = trackio

    def open(self, project, name, id, config, folder):
        resume = "allow" if id else "never"
        run = self.client.init(
            project=project, name=id or name, config=config, resume=resume, embed=False, auto_log_gpu=False, auto_log_cpu=False
        )
        return run.name

    def log(self, step, metrics):
        self.client.log(metrics, step=step)

    def table(self, step, name, columns, rows):
        import pandas

        self.client.log({name: self.client.Table(dataframe=pandas.DataFrame(rows, columns=columns))}, step=step)

    def close(self, failed):
        self.client.finish()


class Wandb:
    def __init__(self):
        import wandb

        self.client = wandb

    def open(self, project, name, id, config, folder):
        run = self.client.init(
            project=project,
            name=name,
            id=id,
            resume="allow" if id else None,
            config=config,
            dir=folder,
            settings=self.client.Settings(console="off", silent=True),
        )
        # Of our own, as W&B's refuses what comes late.
        run.define_metric("step")
        run.define_metric("*", step_metric="step")
        return run.id

    def log(self, step, metrics):
        self.client.log({**metrics, "step": step})

    def table(self, step, name, columns, rows):
        self.client.log({name: self.client.Table(columns=columns, data=rows), "step": step})

    def close(self, failed):
        self.client.finish(exit_code=1 if failed else 0)


def answer(tracker, op, rest):
    if op == "open":
        return {"id": tracker.open(**rest)}
    if op == "log":
        for row in rest["rows"]:
            tracker.log(row["step"], {key: number(value) for key, value in row["metrics"].items()})
    elif op == "table":
        tracker.table(**rest)
    elif op == "close":
        tracker.close(**rest)
    return {}


def main():
    name = sys.argv[1]
    try:
        tracker = {"trackio": Trackio, "wandb": Wandb}[name]()
    except ImportError as error:
        print(json.dumps({"error": str(error), "missing": error.name or name}), file=answers)
        return
    print(json.dumps({"ok": True}), file=answers)
    is_open = False
    for line in sys.stdin:
        asked = json.loads(line)
        op = asked.pop("op")
        try:
            said = {"ok": True, **answer(tracker, op, asked)}
            is_open = op != "close"
        except Exception as error:  # A tracker's fault is told, and ends nothing.
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), file=answers)
    if is_open:  # Braid was killed, and its run with it: left to itself, W&B's client says that it has finished.
        tracker.close(failed=True)


main()
