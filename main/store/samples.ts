/** Completions kept during training, with each reward component, searchable across runs. */
import {
  factColumns,
  type Sample,
  type SampleFacts,
  type SampleKey,
  type StoredSample,
  sampleColumns,
} from '../samples/sample.ts';
import { isUnspaced } from '../text/source-words.ts';
import { fromNull } from './columns.ts';
import type { Db } from './open.ts';
import { type RecordRow, recordRows } from './record-rows.ts';

/** Statistics of a step's samples; NaN if none has a reward. */
export interface StepRewards {
  readonly step: number;
  readonly n: number;
  readonly mean: number;
  readonly lowest: number;
  readonly highest: number;
}

interface RawRewards {
  readonly step: number;
  readonly n: number;
  readonly mean: number | null;
  readonly lowest: number | null;
  readonly highest: number | null;
}

/** Whole samples, and without their texts. */
export const sampleRows = recordRows<StoredSample>(sampleColumns, 'sample');
const factRows = recordRows<SampleFacts>(factColumns, 'sample');
const key: readonly string[] = ['run_id', 'step', 'group_index', 'sample_index'];
const updated = sampleRows.names.filter((name) => !key.includes(name));
const inOrder = 'group_index, sample_index';

/** A shorter last word must match whole: as a prefix it would match much of all texts. */
const SHORTEST_BEGINNING = 3;

/**
 * User input as an FTS5 query: each word quoted, so that no character is an operator; the last may be a prefix.
 */
export function searchQuery(words: string): string {
  const terms = words.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word) && !isUnspaced(word));
  const beginning = (terms.at(-1)?.match(/[\p{L}\p{N}]+$/u)?.[0].length ?? 0) >= SHORTEST_BEGINNING;
  return terms.map((word) => `"${word.replaceAll('"', '""')}"`).join(' ') + (beginning ? '*' : '');
}

/** What the index can't find, as it takes a sentence of a script without spaces for one word; the texts are searched for it. */
export function unspacedTerms(words: string): readonly string[] {
  return words.split(/\s+/u).filter(isUnspaced);
}

// Jumps from one step to the next by the index, instead of scanning every completion.
const stepsSql = `with recursive at(step) as (
    select min(step) from sample where run_id = @runId
    union all select (select min(step) from sample where run_id = @runId and step > at.step) from at
      where at.step is not null
  ) select step from at where step is not null`;

// Jumps from one name to the next by the index, as above.
const partNamesSql = `with recursive part(name) as (
    select min(name) from sample_part
    union all select (select min(name) from sample_part where name > part.name) from part where part.name is not null
  ) select name from part where name is not null`;

/** Statements of the table `sample` and its full-text index. */
export function openSamplesTable(db: Db) {
  const upsert = db.prepare<RecordRow>(
    `insert into sample (${sampleRows.names.join(', ')}) values (${sampleRows.bound})
     on conflict (${key.join(', ')}) do update set ${updated.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  );
  const read = (tail: string) => db.prepare<unknown[], RecordRow>(`select ${sampleRows.selected} from sample ${tail}`);
  const steps = db.prepare<{ runId: number }, number>(stepsSql).pluck();
  const count = db.prepare<[number], number>('select count(*) from sample where run_id = ?').pluck();
  const byStep = read(`where run_id = ? and step = ? order by ${inOrder}`);
  const one = read('where run_id = ? and step = ? and group_index = ? and sample_index = ?');
  const facts = (tail: string) => db.prepare<unknown[], RecordRow>(`select ${factRows.selected} from sample ${tail}`);
  const stepFacts = facts(`where run_id = ? and step = ? order by ${inOrder}`);
  const recordFacts = facts(`where run_id = ? and record_id = ? order by step, ${inOrder}`);
  const rewards = db.prepare<[number], RawRewards>(
    `select step, count(*) as n, avg(reward) as mean, min(reward) as lowest, max(reward) as highest from sample
     where run_id = ? group by step order by step`,
  );
  const newest = db.prepare<[], number>('select run_id from sample order by id desc limit 1').pluck();
  const partNames = db.prepare<[], string>(partNamesSql).pluck();
  const clear = db.prepare<[number, number]>('delete from sample where run_id = ? and step > ?');

  return {
    /** Stores the samples of a step; an existing one with the same group and index is overwritten. */
    record(runId: number, step: number, samples: readonly Sample[]): void {
      for (const sample of samples) upsert.run(sampleRows.toRow({ ...sample, runId, step }));
    },
    /** The steps that have samples. */
    steps: (runId: number): number[] => steps.all({ runId }),
    /** How many completions a run has. */
    count: (runId: number): number => count.get(runId) ?? 0,
    byStep: (runId: number, step: number): StoredSample[] => byStep.all(runId, step).map(sampleRows.fromRow),
    get({ runId, step, group, index }: SampleKey): StoredSample | undefined {
      const row = one.get(runId, step, group, index);
      return row === undefined ? undefined : sampleRows.fromRow(row);
    },
    factsOfStep: (runId: number, step: number): SampleFacts[] => stepFacts.all(runId, step).map(factRows.fromRow),
    /** One record over the run: how its completions changed. */
    factsOfRecord: (runId: number, recordId: string): SampleFacts[] =>
      recordFacts.all(runId, recordId).map(factRows.fromRow),
    rewardsByStep: (runId: number): StepRewards[] =>
      rewards.all(runId).map(({ step, n, mean, lowest, highest }) => ({
        step,
        n,
        mean: fromNull(mean),
        lowest: fromNull(lowest),
        highest: fromNull(highest),
      })),
    /** The run of the newest stored completion. */
    newestRun: (): number | undefined => newest.get(),
    /** Of all samples of all runs; beside the reward's components, what is counted in conversations. */
    partNames: (): string[] => partNames.all(),
    componentNames: (): string[] => partNames.all().filter((name) => !name.includes(' ')),
    discardAfter: (runId: number, step: number): number => clear.run(runId, step).changes,
  } as const;
}
