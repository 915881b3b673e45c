/** A text file of a run that grows by steps, is truncated to one when the run resumes, and never has half a line. */
import * as fs from 'node:fs';
import { type FileOps, writeAll } from '../../io/atomic-write.ts';

/** A file that grows by steps and can be truncated to one. */
export interface StepLog {
  readonly path: string;
  /** Reads the step that starts with this line; undefined in the middle of one, null if the line is incomplete. */
  readonly stepOf: (line: string) => number | undefined | null;
  lastStep: number;
}

/** A workspace from elsewhere may hold a link in a file's place: what it leads to is neither read, added to nor cut. */
export const NO_LINK = fs.constants.O_NOFOLLOW ?? 0;
const TO_APPEND = fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_APPEND | NO_LINK;
const TO_CUT = fs.constants.O_RDWR | NO_LINK;

/** Appends a step; an existing one is replaced, together with all later ones. */
export function appendStep(log: StepLog, step: number, text: string, ops: FileOps): void {
  if (step <= log.lastStep) cutAfter(log, step - 1, ops);
  appendText(log.path, text, ops);
  log.lastStep = step;
}

/** Appends text or bytes: all of it or none. */
export function appendText(path: string, text: string | Uint8Array, ops: FileOps): void {
  const file = ops.openSync(path, TO_APPEND);
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
}

/** Truncates the file before the first line of a later step, or before an incomplete line. */
export function cutAfter(log: StepLog, step: number, ops: FileOps): void {
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
