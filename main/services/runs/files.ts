/**
 * A run's files for reading without the app: `run.yaml`, `metrics.jsonl`, `sample_outputs.log`, `training.log`, and
 * `stderr.log` where its trainer died. They are optional: a write failure is reported once, and training continues.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { BraidError } from '../../errors.ts';
import { type FileOps, writeError, writeFileAtomic } from '../../io/atomic-write.ts';
import { openRegular } from '../../io/read-file.ts';
import type { Sample } from '../../samples/sample.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import type { Metrics } from '../../trainer/protocol/trainer-events.ts';
import { type LiveEvents, openLiveEvents } from './exports/live-events.ts';
import { formatSamples } from './samples/log.ts';
import { appendStep, appendText, cutAfter, NO_LINK, type StepLog } from './step-log.ts';
import { formatEntry, type LogEntry, stepOfEntry } from './training-log.ts';

export interface RunFilesOptions {
  /** Called at most once, with the first failure. */
  readonly onWarning: (warning: BraidError) => void;
  readonly ops?: FileOps;
  readonly now?: () => Date;
}

export interface RunFiles {
  /** Writes `run.yaml`: the whole configuration. */
  writeConfig(config: TrainConfig): void;
  /** Appends to `metrics.jsonl`; an existing step is replaced, together with all later ones. */
  appendStep(step: number, metrics: Metrics): void;
  /** Appends the best and the worst completion to `sample_outputs.log`, in the same way. */
  appendSamples(step: number, samples: readonly Sample[]): void;
  /** Appends what happened to `training.log`. */
  appendLog(entry: LogEntry): void;
  /** Writes `stderr.log`: everything that the trainer and its libraries said before it died. */
  writeStderr(text: string): void;
  /** Starts writing TensorBoard events after a step, into a folder of its own. */
  startEvents(folder: string, from: number): void;
  /** Adds metrics to the TensorBoard events, if they were started. */
  appendEvents(step: number, values: Metrics): void;
  /** Truncates the three files to `step`: the run resumes from a checkpoint. */
  discardAfter(step: number): void;
}

/** Characters of stderr that a page shows. */
const MOST_STDERR = 200_000;

/** Opens the readable files of a run's folder, and repairs a last line that a killed process left half-written. */
export function openRunFiles(folder: string, options: RunFilesOptions): RunFiles {
  const ops = options.ops ?? fs;
  let warned = false;
  let events: { readonly folder: string; readonly live: LiveEvents } | null = null;

  /** Logging must never end a run: any failure here becomes one warning. */
  function guarded(path: string, what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (warned) return;
      warned = true;
      options.onWarning(asWarning(error, path, what));
    }
  }

  const metrics: StepLog = { path: join(folder, 'metrics.jsonl'), stepOf: stepOfJson, lastStep: -1 };
  const samples: StepLog = { path: join(folder, 'sample_outputs.log'), stepOf: stepOfHeader, lastStep: -1 };
  const log = trainingLog(folder);
  guarded(metrics.path, 'the metrics', () => cutAfter(metrics, Number.POSITIVE_INFINITY, ops));
  guarded(samples.path, 'the sample log', () => cutAfter(samples, Number.POSITIVE_INFINITY, ops));
  guarded(log.path, 'the log', () => cutAfter(log, Number.POSITIVE_INFINITY, ops));

  return {
    writeConfig(config) {
      const path = join(folder, 'run.yaml');
      guarded(path, "the run's configuration", () =>
        writeFileAtomic(path, stringify(config, { lineWidth: 0 }), { what: "the run's configuration", ops }),
      );
    },
    writeStderr(text) {
      const path = stderrFile(folder);
      guarded(path, "the trainer's messages", () =>
        writeFileAtomic(path, text, { what: "the trainer's messages", ops }),
      );
    },
    appendStep(step, values) {
      const line = `${JSON.stringify({ step, ...values })}\n`;
      guarded(metrics.path, 'the metrics', () => appendStep(metrics, step, line, ops));
    },
    appendSamples(step, list) {
      if (list.length === 0) return;
      guarded(samples.path, 'the sample log', () => appendStep(samples, step, formatSamples(step, list), ops));
    },
    appendLog(entry) {
      const at = options.now?.() ?? new Date();
      guarded(log.path, 'the log', () => appendText(log.path, formatEntry(at, entry), ops));
    },
    startEvents(folder, from) {
      guarded(folder, 'the TensorBoard events', () => {
        events = { folder, live: openLiveEvents(folder, from, options.now, ops) };
      });
    },
    appendEvents(step, values) {
      const open = events;
      if (open !== null) guarded(open.folder, 'the TensorBoard events', () => open.live.add(step, values));
    },
    discardAfter(step) {
      guarded(metrics.path, 'the metrics', () => cutAfter(metrics, step, ops));
      guarded(samples.path, 'the sample log', () => cutAfter(samples, step, ops));
      guarded(log.path, 'the log', () => cutAfter(log, step, ops));
    },
  };
}

function trainingLog(folder: string): StepLog {
  return { path: join(folder, 'training.log'), stepOf: stepOfEntry, lastStep: -1 };
}

/** Appends to the log of a run whose host is gone; one without a log, of an earlier version, gets none. */
export function appendToLog(folder: string, entry: LogEntry): void {
  const log = trainingLog(folder);
  try {
    if (!fs.existsSync(log.path)) return;
    cutAfter(log, Number.POSITIVE_INFINITY, fs);
    appendText(log.path, formatEntry(new Date(), entry), fs);
  } catch {
    // A full disk, or a link in its place: the history has it, and opening the workspace must not fail.
  }
}

function stderrFile(folder: string): string {
  return join(folder, 'stderr.log');
}

/** What the run's trainer said before it died; null if it never did, or said nothing. */
export function readStderr(folder: string): string | null {
  try {
    const file = openRegular(stderrFile(folder), NO_LINK);
    try {
      return fs.readFileSync(file, 'utf8').slice(-MOST_STDERR);
    } finally {
      fs.closeSync(file);
    }
  } catch {
    // It is not there, or not ours to read: the reason stands without it.
    return null;
  }
}

function asWarning(error: unknown, path: string, what: string): BraidError {
  const found = writeError(error, path, what);
  const cause = found instanceof BraidError ? found : undefined;
  return new BraidError(
    'RUN_FILES_INCOMPLETE',
    `${cause?.message ?? `Can't write ${what} to ${path}: ${String(error)}`}. Training continues; the database has everything`,
    { cause: error, ...(cause?.remedy === undefined ? {} : { remedy: cause.remedy }) },
  );
}

function stepOfJson(line: string): number | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'step' in value && typeof value.step === 'number'
      ? value.step
      : null;
  } catch {
    return null;
  }
}

/** Only headers start in the first column: completions are indented. */
function stepOfHeader(line: string): number | undefined {
  const digits = /^=== step (\d+)/.exec(line)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
