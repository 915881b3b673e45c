/** Frozen prompt sets, and their evaluations by fingerprint of the model's files. */
import { columns } from './columns.ts';
import { storedJson } from './json.ts';
import type { Db } from './open.ts';

export interface NewPromptSet {
  /** Hash of the records: the same prompts are the same set, wherever they came from. */
  readonly hash: string;
  readonly task: string;
  /** Files the records were drawn from. */
  readonly datasets: readonly string[];
  readonly seed: number;
  readonly records: readonly unknown[];
}

export interface PromptSetRow extends Omit<NewPromptSet, 'records'> {
  readonly id: number;
  readonly n: number;
  readonly madeAt: number;
}

type Raw = Omit<PromptSetRow, 'datasets'> & { readonly datasetsJson: string };

const fields = columns(['id', 'hash', 'task', 'datasets_json', 'seed', 'n', 'made_at']);

/** Statements of the tables `prompt_set` and `prompt_evaluation`. */
export function openPromptSetsTable(db: Db, now: () => number) {
  const insert = db.prepare<{
    hash: string;
    task: string;
    datasets: string;
    seed: number;
    n: number;
    records: string;
    at: number;
  }>(
    `insert into prompt_set (hash, task, datasets_json, seed, n, records_json, made_at)
     values (@hash, @task, @datasets, @seed, @n, @records, @at) on conflict (hash) do nothing`,
  );
  const idByHash = db.prepare<[string], number>('select id from prompt_set where hash = ?').pluck();
  const byId = db.prepare<[number], Raw>(`select ${fields} from prompt_set where id = ?`);
  const records = db.prepare<[number], string>('select records_json from prompt_set where id = ?').pluck();
  const attach = db.prepare<[number, number, string, string]>(
    'insert into prompt_evaluation (evaluation_id, prompt_set_id, fingerprint, summary_json) values (?, ?, ?, ?)',
  );
  const find = db
    .prepare<[number, string], number>(
      `select evaluation_id from prompt_evaluation where prompt_set_id = ? and fingerprint = ?
       order by evaluation_id desc limit 1`,
    )
    .pluck();
  const summary = db
    .prepare<[number], string>('select summary_json from prompt_evaluation where evaluation_id = ?')
    .pluck();
  const fingerprint = db
    .prepare<[number], string>('select fingerprint from prompt_evaluation where evaluation_id = ?')
    .pluck();

  return {
    /** Stores a set, or finds the one with the same records. Returns its id. */
    keep({ datasets, records: kept, ...rest }: NewPromptSet): number {
      const texts = { datasets: JSON.stringify(datasets), records: JSON.stringify(kept) };
      insert.run({ ...rest, ...texts, n: kept.length, at: now() });
      return idByHash.get(rest.hash) ?? 0;
    },
    get(id: number): PromptSetRow | undefined {
      const row = byId.get(id);
      if (row === undefined) return undefined;
      const { datasetsJson, ...rest } = row;
      return { ...rest, datasets: storedJson(datasetsJson, `the datasets of prompt set ${id}`) as string[] };
    },
    /** The records, for the task to parse. */
    records: (id: number): readonly unknown[] =>
      storedJson(records.get(id) ?? '[]', `the records of prompt set ${id}`) as unknown[],
    /** Records that an evaluation belongs to a set and to files with this fingerprint. */
    attach: (evaluationId: number, promptSetId: number, fingerprint: string, numbers: unknown): void =>
      void attach.run(evaluationId, promptSetId, fingerprint, JSON.stringify(numbers)),
    /** The newest evaluation of a set for these files. */
    find: (promptSetId: number, fingerprint: string): number | undefined => find.get(promptSetId, fingerprint),
    /** The fingerprint of the model's files at the time of an evaluation. */
    fingerprint: (evaluationId: number): string | undefined => fingerprint.get(evaluationId),
    /** The summary of an evaluation; undefined for one without a prompt set. */
    summary(evaluationId: number): unknown {
      const text = summary.get(evaluationId);
      return text === undefined ? undefined : storedJson(text, `the summary of evaluation ${evaluationId}`);
    },
  } as const;
}
