"""TensorBoard's own view of Braid's event files, and pyarrow's of its parquet files.

Run from the repository root (pip install tensorboard pyarrow):
  python tests/parity/exports.py                  makes fixtures/tensorboard.json: records as TensorBoard writes them
  python tests/parity/exports.py --check FOLDER   reads what `braid export --output FOLDER` wrote, and compares it with
                                                  its metrics.csv
"""

import base64
import csv
import json
import math
import pathlib
import sys

EVENTS = [
    {"step": 1, "wallTime": 1700000000.5, "values": {"reward": 0.25, "loss": -1.5}},
    {"step": 300, "wallTime": 1700000003.25, "values": {"completions/mean_length": 1e10}},
    {"step": 70000, "wallTime": 1700000004.0, "values": {}},
]


def make() -> None:
    import struct

    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    def record(event: Event) -> bytes:
        data = event.SerializeToString()
        head = struct.pack("<Q", len(data))
        return head + struct.pack("<I", masked_crc32c(head)) + data + struct.pack("<I", masked_crc32c(data))

    made = [record(Event(wall_time=EVENTS[0]["wallTime"], file_version="brain.Event:2"))]
    for event in EVENTS:
        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in event["values"].items()]
        made.append(record(Event(wall_time=event["wallTime"], step=event["step"], summary=Summary(value=values))))
    target = pathlib.Path(__file__).parent / "fixtures" / "tensorboard.json"
    target.write_text(json.dumps({"events": EVENTS, "file": base64.b64encode(b"".join(made)).decode()}) + "\n")


def check(folder: str) -> None:
    import pyarrow.parquet
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    seen = EventAccumulator(folder, size_guidance={"scalars": 0})
    seen.Reload()
    rows = list(csv.DictReader(open(pathlib.Path(folder) / "metrics.csv")))
    compared = 0
    for tag in seen.Tags()["scalars"]:
        by_step = {str(scalar.step): scalar.value for scalar in seen.Scalars(tag)}
        for row in rows:
            if row[tag] == "":
                continue
            assert math.isclose(by_step[row["step"]], float(row[tag]), rel_tol=1e-6, abs_tol=1e-30), (tag, row["step"])
            compared += 1
    print(f"{compared} scalars of {len(rows)} steps are the same in TensorBoard and metrics.csv")
    parquet = pathlib.Path(folder) / "completions.parquet"
    if parquet.exists():
        table = pyarrow.parquet.read_table(parquet)
        print(f"{table.num_rows} completions, columns {', '.join(table.schema.names)}")


if __name__ == "__main__":
    check(sys.argv[2]) if sys.argv[1:2] == ["--check"] else make()
