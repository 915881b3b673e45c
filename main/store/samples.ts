/** Completions kept during training, with each reward component, searchable across runs. */
import type { Sample } from '../trainer/protocol/trainer-events.ts';
import { columns, fromNull, parseNumbers, storedMessages } from './columns.ts';
import type { Db } from './open.ts';

/** A stored sample with its run and step. */
export interface StoredSample extends Sample {
  readonly runId: number;
  readonly step: number;
}

/** A sample without its texts. */
export type SampleFacts = Omit<StoredSample, 'prompt' | 'target' | 'completion' | 'messages'>;

/** Identifies a completion: stays the same when a run rewinds and repeats the step. */
export type SampleKey = Pick<StoredSample, 'runId' | 'step' | 'group' | 'index'>;

/** Statistics of a step's samples; NaN if none has a reward. */
export interface StepRewards {
  readonly step: number;
  readonly n: number;
  readonly mean: number;
  readonly lowest: number;
  readonly highest: number;
}

/** A row as SQLite has it. */
export interface RawSample {
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
  readonly failure: string | null;
  readonly messagesJson: string | null;
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
  'failure',
  'messages_json',
] as const;

/** For `select … from sample`. */
export const sampleFields = columns(names, 'sample');
type RawFacts = Omit<RawSample, 'prompt' | 'target' | 'completion' | 'messagesJson'>;

interface RawRewards {
  readonly step: number;
  readonly n: number;
  readonly mean: number | null;
  readonly lowest: number | null;
  readonly highest: number | null;
}

const texts: readonly string[] = ['prompt', 'target', 'completion', 'messages_json'];
const factFields = columns(
  names.filter((name) => !texts.includes(name)),
  'sample',
);
const inOrder = 'group_index, sample_index';

export function parseSample(row: RawSample): StoredSample {
  const { prompt, target, completion, messagesJson } = row;
  return { ...parseFacts(row), prompt, target, completion, ...storedMessages(messagesJson) };
}

function parseFacts(row: RawFacts): SampleFacts {
  const { runId, step, recordId, length } = row;
  return {
    ...{ runId, step, recordId, length },
    group: row.groupIndex,
    index: row.sampleIndex,
    reward: fromNull(row.reward),
    advantage: fromNull(row.advantage),
    components: parseNumbers(row.componentsJson),
    terminated: row.terminated === 1,
    failure: row.failure,
  };
}

/** A shorter last word must match whole: as a prefix it would match much of all texts. */
const SHORTEST_BEGINNING = 3;

/**
 * User input as an FTS5 query: each word quoted, so that no character is an operator; the last may be a prefix.
 */
export function searchQuery(words: string): string {
  const terms = words.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const beginning = (terms.at(-1)?.match(/[\p{L}\p{N}]+$/u)?.[0].length ?? 0) >= SHORTEST_BEGINNING;
  return terms.map((word) => `"${word.replaceAll('"', '""')}"`).join(' ') + (beginning ? '*' : '');
}

// Jumps from one step to the next by the index, instead of scanning every completion.
const stepsSql = `with recursive at(step) as (
    select min(step) from sample where run_id = @runId
    union all select (select min(step) from sample where run_id = @runId and step > at.step) from at
      where at.step is not null
  ) select step from at where step is not null`;

// Jumps from one name to the next by the index, as above.
const componentNamesSql = `with recursive part(name) as (
    select min(name) from sample_part
    union all select (select min(name) from sample_part where name > part.name) from part where part.name is not null
  ) select name from part where name is not null`;

/** Statements of the table `sample` and its full-text index. */
export function openSamplesTable(db: Db) {
  const upsert = db.prepare<RawSample>(
    `insert into sample (${names.join(', ')})
     values (@runId, @step, @groupIndex, @sampleIndex, @recordId, @prompt, @target, @completion, @reward, @advantage,
       @length, @terminated, @componentsJson, @failure, @messagesJson)
     on conflict (run_id, step, group_index, sample_index) do update set record_id = excluded.record_id,
       prompt = excluded.prompt, target = excluded.target, completion = excluded.completion, reward = excluded.reward,
       advantage = excluded.advantage, length = excluded.length, terminated = excluded.terminated,
       components_json = excluded.components_json, failure = excluded.failure,
       messages_json = excluded.messages_json`,
  );
  const read = (tail: string) => db.prepare<unknown[], RawSample>(`select ${sampleFields} from sample ${tail}`);
  const steps = db.prepare<{ runId: number }, number>(stepsSql).pluck();
  const count = db.prepare<[number], number>('select count(*) from sample where run_id = ?').pluck();
  const byStep = read(`where run_id = ? and step = ? order by ${inOrder}`);
  const one = read('where run_id = ? and step = ? and group_index = ? and sample_index = ?');
  const facts = (tail: string) => db.prepare<unknown[], RawFacts>(`select ${factFields} from sample ${tail}`);
  const stepFacts = facts(`where run_id = ? and step = ? order by ${inOrder}`);
  const recordFacts = facts(`where run_id = ? and record_id = ? order by step, ${inOrder}`);
  const rewards = db.prepare<[number], RawRewards>(
    `select step, count(*) as n, avg(reward) as mean, min(reward) as lowest, max(reward) as highest from sample
     where run_id = ? group by step order by step`,
  );
  const newest = db.prepare<[], number>('select run_id from sample order by id desc limit 1').pluck();
  const componentNames = db.prepare<[], string>(componentNamesSql).pluck();
  const clear = db.prepare<[number, number]>('delete from sample where run_id = ? and step > ?');

  return {
    /** Stores the samples of a step; an existing one with the same group and index is overwritten. */
    record(runId: number, step: number, samples: readonly Sample[]): void {
      for (const sample of samples) {
        const { group: groupIndex, index: sampleIndex, components, terminated, ...others } = sample;
        const { failure = null, messages, ...rest } = others;
        const messagesJson = messages === undefined ? null : JSON.stringify(messages);
        const componentsJson = JSON.stringify(components);
        const ended = terminated ? 1 : 0;
        const facts = { groupIndex, sampleIndex, componentsJson, failure, messagesJson };
        upsert.run({ ...rest, ...facts, runId, step, terminated: ended });
      }
    },
    /** The steps that have samples. */
    steps: (runId: number): number[] => steps.all({ runId }),
    /** How many completions a run has. */
    count: (runId: number): number => count.get(runId) ?? 0,
    byStep: (runId: number, step: number): StoredSample[] => byStep.all(runId, step).map(parseSample),
    get({ runId, step, group, index }: SampleKey): StoredSample | undefined {
      const row = one.get(runId, step, group, index);
      return row === undefined ? undefined : parseSample(row);
    },
    factsOfStep: (runId: number, step: number): SampleFacts[] => stepFacts.all(runId, step).map(parseFacts),
    /** One record over the run: how its completions changed. */
    factsOfRecord: (runId: number, recordId: string): SampleFacts[] => recordFacts.all(runId, recordId).map(parseFacts),
    rewardsByStep: (runId: number): StepRewards[] =>
      rewards.all(runId).map(({ step, n, mean, lowest, highest }) => ({
        ...{ step, n, mean: fromNull(mean), lowest: fromNull(lowest), highest: fromNull(highest) },
      })),
    /** The run of the newest stored completion. */
    newestRun: (): number | undefined => newest.get(),
    /** Of all samples of all runs. */
    componentNames: (): string[] => componentNames.all(),
    discardAfter: (runId: number, step: number): number => clear.run(runId, step).changes,
  } as const;
}
