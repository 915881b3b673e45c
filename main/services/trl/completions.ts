/** The completions that TRL logs (`log_completions`): `completions/completions_<step>.parquet`, as stored samples. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { inputError } from '../../errors.ts';
import { readParquetRows } from '../../io/parquet.ts';
import { readRegular } from '../../io/read-file.ts';
import type { Sample } from '../../samples/sample.ts';
import { type TaskFacts, totalReward } from '../../tasks/task.ts';
import type { ExportedRecord } from './layout.ts';

/** Whose completions these are. */
export interface CompletionsOf {
  readonly task: Pick<TaskFacts, 'rewardNames' | 'rewardWeights'>;
  readonly groupSize: number;
  /** By id; a completion without one belongs to the record of its prompt, if there is one. */
  readonly records: ReadonlyMap<string, ExportedRecord>;
}

export interface StepSamples {
  readonly step: number;
  readonly samples: readonly Sample[];
}

/** Reads the files of those steps that `wanted` names; none without log_completions. */
export async function readCompletions(
  output: string,
  of: CompletionsOf,
  wanted: (step: number) => boolean,
): Promise<StepSamples[]> {
  const folder = join(output, 'completions');
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  const all: StepSamples[] = [];
  for (const name of files) {
    const digits = /^completions_(\d+)\.parquet$/.exec(name)?.[1];
    if (digits === undefined || !wanted(Number(digits))) continue;
    const rows = await readRows(join(folder, name));
    const samples = samplesOf(rows, of);
    if (samples.length > 0) all.push({ step: Number(digits), samples });
  }
  return all;
}

type Row = Readonly<Record<string, unknown>>;

async function readRows(file: string): Promise<readonly Row[]> {
  try {
    const bytes = readRegular(file);
    // A view of Node's pool would show the whole pool.
    const buffer = new Uint8Array(bytes).buffer;
    const rows = await readParquetRows(buffer);
    const bad = rows.findIndex((row) => typeof row.prompt !== 'string' || typeof row.completion !== 'string');
    if (bad >= 0) throw new Error(`row ${bad + 1}: expected texts in "prompt" and "completion"`);
    return rows;
  } catch (cause) {
    const error = inputError(
      'BAD_COMPLETIONS_FILE',
      `${file}: not a file of completions (${(cause as Error).message}). Nothing was imported`,
      'Copy it again, or delete it to import the run without the completions of that step.',
    );
    throw Object.assign(error, { cause });
  }
}

function samplesOf(rows: readonly Row[], { task, groupSize, records }: CompletionsOf): Sample[] {
  const idByPrompt = new Map([...records.values()].map(({ record }) => [record.prompt, record.id]));
  let [group, index, before] = [-1, 0, ''];
  return rows
    .filter(({ split }) => split === undefined || split === 'train')
    .map((row) => {
      const prompt = textOf(row.prompt) ?? '';
      const recordId = textOf(row.record_id) ?? idByPrompt.get(prompt) ?? idOf(prompt);
      if (recordId !== before || index + 1 >= groupSize) [group, index, before] = [group + 1, 0, recordId];
      else index += 1;
      const known = records.get(recordId);
      const components = Object.fromEntries(task.rewardNames.map((name) => [name, numberOf(row[name])]));
      return {
        recordId,
        group,
        index,
        components,
        prompt: known?.record.prompt ?? prompt,
        target: known?.target ?? '',
        completion: textOf(row.completion) ?? '',
        reward: rewardOf(task, components),
        advantage: numberOf(row.advantage),
        length: tokensOf(row.tokens),
        terminated: row.finish !== 'length',
        failure: textOf(row.failure) || null,
      };
    });
}

/** As TRL sums: components that don't apply are left out; NaN where none applies. */
function rewardOf(task: CompletionsOf['task'], components: Readonly<Record<string, number>>): number {
  const values = Object.values(components);
  if (values.every(Number.isNaN)) return Number.NaN;
  const present = Object.entries(components).map(([name, value]) => [name, Number.isNaN(value) ? 0 : value]);
  return totalReward(task, Object.fromEntries(present));
}

/** A prompt without an id: equal prompts have equal ones. */
function idOf(prompt: string): string {
  return `prompt-${createHash('sha256').update(prompt).digest('hex').slice(0, 8)}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** TRL computes in float32: the shortest number that is the same there, as a reward was before. */
function numberOf(value: unknown): number {
  return typeof value === 'number' ? Number(value.toPrecision(7)) : Number.NaN;
}

/** 0: not logged. */
function tokensOf(value: unknown): number {
  return typeof value === 'bigint' || typeof value === 'number' ? Number(value) : 0;
}
