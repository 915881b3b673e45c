/** Datasets: what was generated, from which texts and seed, and where the file is. */
import { columns } from './columns.ts';
import type { Db } from './open.ts';

export interface NewDataset {
  readonly name: string;
  readonly file: string;
  readonly task: string;
  /** Words in a fragment; null where the task has no such number. */
  readonly words: number | null;
  readonly trainN: number;
  readonly testN: number;
  readonly seed: number;
  readonly template: string | null;
  /** Identity of the corpus that it was drawn from. */
  readonly textHash: string | null;
}

export interface DatasetRow extends NewDataset {
  readonly id: number;
  readonly madeAt: number;
}

const fields = columns([
  'id',
  'name',
  'file',
  'task',
  'words',
  'train_n',
  'test_n',
  'seed',
  'template',
  'text_hash',
  'made_at',
]);

/** Statements of the table `dataset`. */
export function openDatasetsTable(db: Db, now: () => number) {
  const upsert = db
    .prepare<NewDataset & { madeAt: number }, number>(
      `insert into dataset (name, file, task, words, train_n, test_n, seed, template, text_hash, made_at)
       values (@name, @file, @task, @words, @trainN, @testN, @seed, @template, @textHash, @madeAt)
       on conflict (file) do update set name = excluded.name, task = excluded.task, words = excluded.words,
         train_n = excluded.train_n, test_n = excluded.test_n, seed = excluded.seed, template = excluded.template,
         text_hash = excluded.text_hash, made_at = excluded.made_at
       returning id`,
    )
    .pluck();
  const byId = db.prepare<[number], DatasetRow>(`select ${fields} from dataset where id = ?`);
  const byFile = db.prepare<[string], DatasetRow>(`select ${fields} from dataset where file = ?`);
  const all = db.prepare<[], DatasetRow>(`select ${fields} from dataset order by task, words, id`);
  const remove = db.prepare<[number]>('delete from dataset where id = ?');

  return {
    /** Records a dataset; one made again into the same file replaces the earlier record. */
    record: (dataset: NewDataset): number => upsert.get({ ...dataset, madeAt: now() }) ?? 0,
    get: (id: number): DatasetRow | undefined => byId.get(id),
    byFile: (file: string): DatasetRow | undefined => byFile.get(file),
    list: (): DatasetRow[] => all.all(),
    remove: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}

export type DatasetsTable = ReturnType<typeof openDatasetsTable>;
