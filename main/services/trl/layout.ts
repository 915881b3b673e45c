/** The files of a folder that is exported for TRL, as export, reward process and import name them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonLines } from '../../io/json-lines.ts';
import type { TaskRecord } from '../../tasks/task.ts';

export const RUN_FILE = 'run.yaml';
export const SETTINGS_FILE = 'settings.json';
export const TRAIN_FILE = 'train.jsonl';
export const TEST_FILE = 'test.jsonl';
/** Where train.py has its checkpoints, unless it gets another place. */
export const OUTPUT_FOLDER = 'output';

/** A line of train.jsonl and test.jsonl. */
export interface ExportedRow {
  readonly id: string;
  readonly split: 'train' | 'test';
  /** As the model gets it. */
  readonly prompt: string;
  readonly prompt_ids: readonly number[];
  readonly target: string;
  /** The record as JSON: a table of TRL would give all records the same fields. */
  readonly record: string;
}

const rowSchema = z.looseObject({ id: z.string(), target: z.string(), record: z.string() });
const recordSchema = z.looseObject({ id: z.string(), prompt: z.string() });

/** A record of an exported folder with its target. */
export interface ExportedRecord {
  readonly record: TaskRecord;
  readonly target: string;
}

const WORDS = {
  code: 'BAD_TRL_FOLDER',
  give: 'Give a folder that `braid export --for trl` wrote.',
  fix: 'Export the folder again.',
  item: 'record',
};

/** The records of an exported folder. */
export function readExportedRecords(folder: string, file = TRAIN_FILE): ExportedRecord[] {
  return readJsonLines(join(folder, file), WORDS, (value) => {
    const { record, target } = rowSchema.parse(value);
    return { record: recordSchema.parse(JSON.parse(record)) as TaskRecord, target };
  });
}

/** Whether a folder is one that was exported. */
export function isExported(folder: string): boolean {
  return [RUN_FILE, SETTINGS_FILE, TRAIN_FILE].every((name) => existsSync(join(folder, name)));
}
