/**
 * Checks that the files of a model folder are intact. A checkpoint lists the SHA-256 of each of its files in
 * `checksums.sha256`, in the format of `sha256sum --check`; a folder without that list is valid if its weights are
 * finite numbers.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, readdirSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BraidError, inputError } from '../errors.ts';
import { openRegular, readRegular } from '../io/read-file.ts';
import { pulse } from '../pulse.ts';
import { openSafetensors } from './safetensors.ts';

export const CHECKSUMS = 'checksums.sha256';

/** What is wrong with a folder. */
export interface Damage {
  readonly file: string;
  readonly reason: string;
}

/** The digest of a file's content. */
export function digestOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The list of a folder's files, by their digests. */
export function encodeChecksums(digests: ReadonlyMap<string, string>): string {
  return [...digests].map(([name, digest]) => `${digest}  ${name}\n`).join('');
}

/** Whether a folder has a list to compare its files with. */
export function hasChecksums(folder: string): boolean {
  return existsSync(join(folder, CHECKSUMS));
}

/** A file that a checkpoint had when it was written and no longer has: part of it was removed; null: all are there, or none is. */
export function missingFile(folder: string): string | null {
  const there = new Set(readdirSync(folder));
  const listed = there.has(CHECKSUMS) ? readList(join(folder, CHECKSUMS)) : null;
  for (const name of listed?.keys() ?? []) if (!there.has(name)) return name;
  const hasWeights = there.size === 0 || [...there].some((name) => name.endsWith('.safetensors'));
  return listed !== null || hasWeights ? null : 'a file of weights';
}

/** Rejects a folder whose files differ from its list; names the newest intact checkpoint of the run. */
export function checkChecksums(folder: string): void {
  if (!hasChecksums(folder)) return;
  const damage = drain(compareWithList(folder));
  if (damage !== null) throw drain(damagedError(folder, damage));
}

/** Rejects a damaged folder after reading all of it; yields to other work. */
export async function checkSound(folder: string, signal?: AbortSignal): Promise<void> {
  const damage = await damageOf(folder, signal);
  if (damage !== null) throw await inTurns(damagedError(folder, damage), signal);
}

/** What is wrong with a folder, or null; yields to other work. */
export async function damageOf(folder: string, signal?: AbortSignal): Promise<Damage | null> {
  return inTurns(findDamage(folder), signal);
}

async function inTurns<R>(work: Generator<undefined, R>, signal?: AbortSignal): Promise<R> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}

/** Checks a folder, one piece per turn. */
function* findDamage(folder: string): Generator<undefined, Damage | null> {
  return hasChecksums(folder) ? yield* compareWithList(folder) : yield* findNotFinite(folder);
}

function drain<R>(work: Generator<undefined, R>): R {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    pulse();
  }
}

function* compareWithList(folder: string): Generator<undefined, Damage | null> {
  const list = readList(join(folder, CHECKSUMS));
  if (list === null) return { file: join(folder, CHECKSUMS), reason: 'it is not a list of digests' };
  const unlisted = readdirSync(folder).find((name) => TRUSTED.test(name) && !list.has(name));
  if (unlisted !== undefined) return { file: join(folder, CHECKSUMS), reason: `it doesn't list ${unlisted}` };
  for (const [name, expected] of list) {
    const file = join(folder, name);
    const got = yield* digestFile(file);
    if (got === null) return { file, reason: 'it is missing or cannot be read' };
    if (got !== expected) return { file, reason: 'its content is not what was written' };
  }
  return null;
}

/** Files that are read from a checkpoint: none of them may lack a digest. */
const TRUSTED = /\.(?:json|safetensors)$/;

function readList(file: string): ReadonlyMap<string, string> | null {
  const lines = textOf(file).split('\n');
  // Every line ends with a line break: what comes after the last one is a list that was cut off or written over.
  if (lines.pop() !== '') return null;
  const entries = lines.map((line) => /^([0-9a-f]{64}) {2}(.+)$/.exec(line));
  const list = new Map<string, string>();
  for (const entry of entries) {
    const [, digest, name] = entry ?? [];
    // A list only names files in its own folder.
    if (digest === undefined || name === undefined || name !== basename(name)) return null;
    list.set(name, digest);
  }
  return list.size === 0 ? null : list;
}

/** Empty if it can't be read: counts as no list. */
function textOf(file: string): string {
  try {
    return readRegular(file, PIECE).toString('utf8');
  } catch {
    return '';
  }
}

/** Bytes read at a time. */
const PIECE = 2 ** 22;

function* digestFile(file: string): Generator<undefined, string | null> {
  let descriptor: number;
  try {
    descriptor = openRegular(file);
  } catch {
    return null;
  }
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE);
  try {
    for (;;) {
      const got = readSync(descriptor, piece, 0, PIECE, null);
      if (got === 0) return hash.digest('hex');
      hash.update(piece.subarray(0, got));
      yield;
    }
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}

function* findNotFinite(folder: string): Generator<undefined, Damage | null> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
  for (const name of names) {
    const path = join(folder, name);
    try {
      const file = openSafetensors(path);
      try {
        for (const tensor of file.entries.keys()) {
          yield* file.checkFinite(tensor);
        }
      } finally {
        file.close();
      }
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      return { file: path, reason: error.message.replace(`${path}: `, '') };
    }
  }
  return null;
}

/** The error for a damaged folder; the other checkpoints of its run are read, one piece per turn. */
function* damagedError(folder: string, { file, reason }: Damage): Generator<undefined, BraidError> {
  const remedy = yield* remedyFor(folder);
  return inputError('FILES_DAMAGED', `${file} is damaged: ${reason}. Nothing was changed.`, remedy);
}

function* remedyFor(folder: string): Generator<undefined, string> {
  const step = stepOf(basename(folder));
  if (step === null) return 'Copy or download the folder again.';
  const whole = yield* newestWhole(dirname(folder), basename(folder));
  const other =
    whole === null
      ? 'No other checkpoint of this run is intact: restore this one from a copy, or start the run again.'
      : `The newest intact checkpoint of this run is from step ${stepOf(basename(whole))}: use ${whole}.`;
  return hasChecksums(folder) ? `${other} If you changed the file on purpose, delete ${CHECKSUMS} beside it.` : other;
}

/** The newest intact checkpoint in a run's folder, except one; null if there is none. */
function* newestWhole(outputs: string, but: string): Generator<undefined, string | null> {
  const others = readdirSync(outputs)
    .filter((name) => stepOf(name) !== null && name !== but)
    .sort((a, b) => (stepOf(b) ?? 0) - (stepOf(a) ?? 0));
  for (const name of others) if ((yield* findDamage(join(outputs, name))) === null) return join(outputs, name);
  return null;
}

function stepOf(name: string): number | null {
  const step = /^checkpoint-(\d+)$/.exec(name)?.[1];
  return step === undefined ? null : Number(step);
}
