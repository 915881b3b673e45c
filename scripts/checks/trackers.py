"""By hand: what trackers have of a run, read by their own clients, against the run's files.

pip install mlflow==3.17.2 wandb==0.31.0 trackio==0.43.0, start an MLflow server, set MLFLOW_TRACKING_URI,
WANDB_MODE=offline and BRAID_PYTHON, and train with --report-to mlflow wandb trackio. Then, in the same environment:
python scripts/checks/trackers.py RUN_FOLDER [PROJECT]
"""
import json
import math
import struct
import sys
from pathlib import Path

import mlflow
from trackio.sqlite_storage import SQLiteStorage
from wandb.proto import wandb_internal_pb2

folder = Path(sys.argv[1])
project = sys.argv[2] if len(sys.argv) > 2 else "braid"
own = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
ids = {name: place["id"] for name, place in json.loads((folder / "trackers.json").read_text()).items()}


def differing(values):
    """How many of the run's numbers are missing from `values`, (step, name) -> number, or are others there."""
    wanted = {(row["step"], name): value for row in own for name, value in row.items() if name != "step"}
    wrong = sum(not same(values.get(key), value) for key, value in wanted.items())
    return f"{len(wanted)} numbers, {wrong} differ"


def same(there, here):
    if here is None:
        return there is None or not math.isfinite(there)
    return there is not None and math.isclose(there, here, rel_tol=1e-12)


def of_mlflow():
    client = mlflow.MlflowClient()
    names = {name for row in own for name in row if name != "step"}
    history = {name: client.get_metric_history(ids["mlflow"], name) for name in names}
    mlflow.set_experiment(project)
    tables = client.list_artifacts(ids["mlflow"], "completions")
    rows = sum(len(mlflow.load_table(table.path, run_ids=[ids["mlflow"]])) for table in tables)
    run = client.get_run(ids["mlflow"])
    print(f"mlflow: {run.info.status}, {len(run.data.params)} parameters, {len(tables)} tables of {rows} rows in all")
    return {(point.step, name): point.value for name, points in history.items() for point in points}


def records(file):
    """The records of W&B's offline file, which has the format of LevelDB's log behind a header of 7 bytes."""
    data, at, record = file.read_bytes(), 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        record += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield record
            record = b""


def of_wandb():
    values, tables = {}, len(list(folder.glob("wandb/offline-run-*/files/media/table/*.json")))
    for file in folder.glob(f"wandb/offline-run-*{ids['wandb']}/*.wandb"):
        for data in records(file):
            record = wandb_internal_pb2.Record.FromString(data)
            row = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            values |= {(row["step"], name): value for name, value in row.items() if not isinstance(value, (dict, str))}
    print(f"wandb: {tables} tables")
    return values


def of_trackio():
    rows = SQLiteStorage.get_logs(project, ids["trackio"])
    print(f"trackio: {sum('completions' in row for row in rows)} tables")
    return {(row["step"], name): value for row in rows for name, value in row.items() if isinstance(value, (int, float))}


for tracker, read in {"mlflow": of_mlflow, "wandb": of_wandb, "trackio": of_trackio}.items():
    if tracker in ids:
        print(f"{tracker}: {differing(read())}")
