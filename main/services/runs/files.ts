/**
 * A run's files for reading without the app: `run.yaml`, `metrics.jsonl`, `sample_outputs.log`, and `stderr.log` where
 * its trainer died. They are optional: a write failure is reported once, and training continues.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { BraidError } from '../../errors.ts';
import { type FileOps, writeAll, writeError, writeFileAtomic } from '../../io/atomic-write.ts';
import type { TrainConfig } from '../../trainer/config.ts';
import type { Metrics, Sample } from '../../trainer/events.ts';
import { formatSamples } from './samples/log.ts';

export interface RunFilesOptions {
  /** Called at most once, with the first failure. */
  readonly onWarning: (warning: BraidError) => void;
  readonly ops?: FileOps;
}

export interface RunFiles {
  /** Writes `run.yaml`: the whole configuration. */
  writeConfig(config: TrainConfig): void;
  /** Appends to `metrics.jsonl`; an existing step is replaced, together with all later ones. */
  appendStep(step: number, metrics: Metrics): void;
  /** Appends the best and the worst completion to `sample_outputs.log`, in the same way. */
  appendSamples(step: number, samples: readonly Sample[]): void;
  /** Writes `stderr.log`: everything that the trainer and its libraries said before it died. */
  writeStderr(text: string): void;
  /** Truncates both files to `step`: the run resumes from a checkpoint. */
  discardAfter(step: number): void;
}

/** A file that grows by steps and can be truncated to one. */
interface StepLog {
  readonly path: string;
  /** Reads the step that starts with this line; undefined in the middle of one, null if the line is incomplete. */
  readonly stepOf: (line: string) => number | undefined | null;
  lastStep: number;
}

/** Characters of stderr that a page shows. */
const MOST_STDERR = 200_000;
/** A workspace from elsewhere may hold a link in a file's place: what it leads to is neither read, added to nor cut. */
const NO_LINK = fs.constants.O_NOFOLLOW ?? 0;
const TO_APPEND = fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_APPEND | NO_LINK;
const TO_CUT = fs.constants.O_RDWR | NO_LINK;

/** Opens the readable files of a run's folder, and repairs a last line that a killed process left half-written. */
export function openRunFiles(folder: string, options: RunFilesOptions): RunFiles {
  const ops = options.ops ?? fs;
  let warned = false;

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
  guarded(metrics.path, 'the metrics', () => cutAfter(metrics, Number.POSITIVE_INFINITY, ops));
  guarded(samples.path, 'the sample log', () => cutAfter(samples, Number.POSITIVE_INFINITY, ops));

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
      guarded(metrics.path, 'the metrics', () => append(metrics, step, line, ops));
    },
    appendSamples(step, list) {
      if (list.length === 0) return;
      guarded(samples.path, 'the sample log', () => append(samples, step, formatSamples(step, list), ops));
    },
    discardAfter(step) {
      guarded(metrics.path, 'the metrics', () => cutAfter(metrics, step, ops));
      guarded(samples.path, 'the sample log', () => cutAfter(samples, step, ops));
    },
  };
}

function stderrFile(folder: string): string {
  return join(folder, 'stderr.log');
}

/** What the run's trainer said before it died; null if it never did, or said nothing. */
export function readStderr(folder: string): string | null {
  try {
    const file = fs.openSync(stderrFile(folder), fs.constants.O_RDONLY | NO_LINK);
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

function append(log: StepLog, step: number, text: string, ops: FileOps): void {
  if (step <= log.lastStep) cutAfter(log, step - 1, ops);
  const file = ops.openSync(log.path, TO_APPEND);
  try {
    const size = ops.fstatSync(file).size;
    try {
      writeAll(file, text, ops);
    } catch (error) {
      // A full disk may accept part of a line first; that part must not corrupt the next one.
      ops.ftruncateSync(file, size);
      throw error;
    }
  } finally {
    ops.closeSync(file);
  }
  log.lastStep = step;
}

/** Truncates the file before the first line of a later step, or before an incomplete line. */
function cutAfter(log: StepLog, step: number, ops: FileOps): void {
  if (!fs.existsSync(log.path)) return;
  const bytes = fs.readFileSync(log.path);
  const kept = lengthUpTo(log, bytes, step);
  if (kept === bytes.length) return;
  const file = ops.openSync(log.path, TO_CUT);
  try {
    ops.ftruncateSync(file, kept);
  } finally {
    ops.closeSync(file);
  }
}

/** Bytes up to the end of `step`; also records the last remaining step. */
function lengthUpTo(log: StepLog, bytes: Buffer, step: number): number {
  log.lastStep = -1;
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start);
    if (end < 0) return start;
    const found = log.stepOf(bytes.toString('utf8', start, end));
    if (found === null || (found !== undefined && found > step)) return start;
    if (found !== undefined) log.lastStep = found;
    start = end + 1;
  }
  return start;
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
