/** Completions kept during training, with each reward component, searchable across runs. */
import type { Sample } from '../trainer/events.ts';
import { columns, fromNull, parseNumbers } from './columns.ts';
import type { Db } from './open.ts';

/** A sample as it is read back: which run and step it came from, and the sample itself. */
export interface StoredSample extends Sample {
  readonly runId: number;
  readonly step: number;
}

/** The mean of one reward component over the samples of a step. */
export interface ComponentMean {
  readonly step: number;
  readonly name: string;
  readonly mean: number;
}

export interface SampleSearch {
  /** Words that must all occur; the last may be the beginning of a word. */
  readonly words: string;
  readonly runId?: number;
  readonly limit?: number;
}

interface RawSample {
  readonly runId: number;
  readonly step: number;
  readonly groupIndex: number;
  readonly sampleIndex: number;
  readonly recordId: string;
  readonly prompt: string;
  readonly target: string;
  readonly completion: string;
  readonly reward: number | null;
  readonly advantage: number | null;
  readonly length: number;
  readonly terminated: number;
  readonly componentsJson: string;
}

const names = [
  'run_id',
  'step',
  'group_index',
  'sample_index',
  'record_id',
  'prompt',
  'target',
  'completion',
  'reward',
  'advantage',
  'length',
  'terminated',
  'components_json',
] as const;

const fields = columns(names, 'sample');
const inOrder = 'group_index, sample_index';

function parse(row: RawSample): StoredSample {
  const { groupIndex, sampleIndex, componentsJson, terminated, ...rest } = row;
  return {
    ...rest,
    group: groupIndex,
    index: sampleIndex,
    reward: fromNull(row.reward),
    advantage: fromNull(row.advantage),
    components: parseNumbers(componentsJson),
    terminated: terminated === 1,
  };
}

/** Words as a person types them, as an FTS5 query: each quoted, so that no character is an operator. */
export function searchQuery(words: string): string {
  const terms = words.split(/\s+/u).filter((word) => word !== '');
  return terms.length === 0 ? '' : `${terms.map((word) => `"${word.replaceAll('"', '""')}"`).join(' ')}*`;
}

// From one step to the next by the index, instead of over every completion.
const stepsSql = `with recursive at(step) as (
    select min(step) from sample where run_id = @runId
    union all select (select min(step) from sample where run_id = @runId and step > at.step) from at
      where at.step is not null
  ) select step from at where step is not null`;

/** Statements of the table `sample` and its full-text index. */
export function openSamplesTable(db: Db) {
  const upsert = db.prepare<RawSample>(
    `insert into sample (${names.join(', ')})
     values (@runId, @step, @groupIndex, @sampleIndex, @recordId, @prompt, @target, @completion, @reward, @advantage,
       @length, @terminated, @componentsJson)
     on conflict (run_id, step, group_index, sample_index) do update set record_id = excluded.record_id,
       prompt = excluded.prompt, target = excluded.target, completion = excluded.completion, reward = excluded.reward,
       advantage = excluded.advantage, length = excluded.length, terminated = excluded.terminated,
       components_json = excluded.components_json`,
  );
  const read = (tail: string) => db.prepare<unknown[], RawSample>(`select ${fields} from sample ${tail}`);
  const steps = db.prepare<{ runId: number }, number>(stepsSql).pluck();
  const count = db.prepare<[number], number>('select count(*) from sample where run_id = ?').pluck();
  const byStep = read(`where run_id = ? and step = ? order by ${inOrder}`);
  const best = read(`where run_id = ? and step = ? order by reward desc nulls last, ${inOrder} limit ?`);
  const worst = read(`where run_id = ? and step = ? order by reward asc nulls last, ${inOrder} limit ?`);
  const group = read(`where run_id = ? and step = ? and group_index = ? order by sample_index`);
  const record = read(`where run_id = ? and record_id = ? order by step, ${inOrder}`);
  const lowest = read(
    `join json_each(sample.components_json) part on part.key = ? where run_id = ? and part.value is not null
     order by part.value asc, step, ${inOrder} limit ?`,
  );
  const highest = read(
    `join json_each(sample.components_json) part on part.key = ? where run_id = ? and part.value is not null
     order by part.value desc, step, ${inOrder} limit ?`,
  );
  const means = db.prepare<[number], ComponentMean>(
    `select step, part.key as name, avg(part.value) as mean from sample, json_each(sample.components_json) part
     where run_id = ? and part.value is not null group by step, part.key order by step, part.key`,
  );
  const search = db.prepare<{ query: string; runId: number | null; limit: number }, RawSample>(
    `select ${fields} from sample_search join sample on sample.id = sample_search.rowid
     where sample_search match @query and (@runId is null or run_id = @runId)
     order by sample_search.rank, sample.id limit @limit`,
  );
  const clear = db.prepare<[number, number]>('delete from sample where run_id = ? and step > ?');

  return {
    /** Stores the samples of a step; one stored before under the same group and index is overwritten. */
    record(runId: number, step: number, samples: readonly Sample[]): void {
      for (const sample of samples) {
        const { group: groupIndex, index: sampleIndex, components, terminated, ...rest } = sample;
        const componentsJson = JSON.stringify(components);
        upsert.run({ ...rest, runId, step, groupIndex, sampleIndex, componentsJson, terminated: terminated ? 1 : 0 });
      }
    },
    /** The steps that have samples. */
    steps: (runId: number): number[] => steps.all({ runId }),
    /** How many completions a run has. */
    count: (runId: number): number => count.get(runId) ?? 0,
    byStep: (runId: number, step: number): StoredSample[] => byStep.all(runId, step).map(parse),
    best: (runId: number, step: number, count = 1): StoredSample[] => best.all(runId, step, count).map(parse),
    worst: (runId: number, step: number, count = 1): StoredSample[] => worst.all(runId, step, count).map(parse),
    /** All completions of one prompt in one step. */
    group: (runId: number, step: number, groupIndex: number): StoredSample[] =>
      group.all(runId, step, groupIndex).map(parse),
    /** One record through the run: how its completions changed. */
    ofRecord: (runId: number, recordId: string): StoredSample[] => record.all(runId, recordId).map(parse),
    /** The samples with the lowest or highest value of one reward component. */
    byComponent: (runId: number, name: string, order: 'lowest' | 'highest', count = 10): StoredSample[] =>
      (order === 'lowest' ? lowest : highest).all(name, runId, count).map(parse),
    componentMeans: (runId: number): ComponentMean[] => means.all(runId),
    /** Full-text search in prompts and completions, the most fitting first. */
    search(wanted: SampleSearch): StoredSample[] {
      const query = searchQuery(wanted.words);
      if (query === '') return [];
      return search.all({ query, runId: wanted.runId ?? null, limit: wanted.limit ?? 50 }).map(parse);
    },
    discardAfter: (runId: number, step: number): number => clear.run(runId, step).changes,
  } as const;
}

export type SamplesTable = ReturnType<typeof openSamplesTable>;
