/** Datasets: what was generated, from which texts and seed, and the file. */
import { columns } from './columns.ts';
import { storedJson } from './json.ts';
import type { Db } from './open.ts';

/** What a dataset's test records share with its training records. */
export interface DatasetLeakage {
  /** Texts on both sides. */
  readonly titles: number;
  /** Test records that repeat a sequence of words of a training record. */
  readonly pairs: number;
}

export interface NewDataset {
  readonly name: string;
  readonly file: string;
  readonly task: string;
  /** Words per fragment; null if the task has none. */
  readonly words: number | null;
  readonly trainN: number;
  readonly testN: number;
  readonly seed: number;
  readonly template: string | null;
  /** Identity of the corpus it was drawn from. */
  readonly textHash: string | null;
  /** null: not checked, or nothing to compare. */
  readonly leakage?: DatasetLeakage | null;
}

export interface DatasetRow extends NewDataset {
  readonly id: number;
  readonly leakage: DatasetLeakage | null;
  readonly madeAt: number;
}

type Stored = Omit<DatasetRow, 'leakage'> & { readonly leakageJson: string | null };

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
  'leakage_json',
  'made_at',
]);

function parse({ leakageJson, ...row }: Stored): DatasetRow {
  const leakage = leakageJson === null ? null : storedJson(leakageJson, `the held-out check of dataset ${row.id}`);
  return { ...row, leakage: leakage as DatasetLeakage | null };
}

function write(leakage: DatasetLeakage | null | undefined): string | null {
  return leakage === null || leakage === undefined ? null : JSON.stringify(leakage);
}

/** Statements of the table `dataset`. */
export function openDatasetsTable(db: Db, now: () => number) {
  const upsert = db
    .prepare<Omit<NewDataset, 'leakage'> & { leakageJson: string | null; madeAt: number }, number>(
      `insert into dataset (name, file, task, words, train_n, test_n, seed, template, text_hash, leakage_json,
         made_at)
       values (@name, @file, @task, @words, @trainN, @testN, @seed, @template, @textHash, @leakageJson, @madeAt)
       on conflict (file) do update set name = excluded.name, task = excluded.task, words = excluded.words,
         train_n = excluded.train_n, test_n = excluded.test_n, seed = excluded.seed, template = excluded.template,
         text_hash = excluded.text_hash, leakage_json = excluded.leakage_json, made_at = excluded.made_at
       returning id`,
    )
    .pluck();
  const byId = db.prepare<[number], Stored>(`select ${fields} from dataset where id = ?`);
  const byFile = db.prepare<[string], Stored>(`select ${fields} from dataset where file = ?`);
  const all = db.prepare<[], Stored>(`select ${fields} from dataset order by task, words, id`);
  const setLeakage = db.prepare<[string | null, number]>('update dataset set leakage_json = ? where id = ?');
  const read = (row: Stored | undefined): DatasetRow | undefined => (row === undefined ? undefined : parse(row));
  const remove = db.prepare<[number]>('delete from dataset where id = ?');

  return {
    /** Records a dataset; one generated again into the same file replaces the earlier record. */
    record: ({ leakage, ...dataset }: NewDataset): number =>
      upsert.get({ ...dataset, leakageJson: write(leakage), madeAt: now() }) ?? 0,
    get: (id: number): DatasetRow | undefined => read(byId.get(id)),
    byFile: (file: string): DatasetRow | undefined => read(byFile.get(file)),
    list: (): DatasetRow[] => all.all().map(parse),
    /** The result of a check that was made later. */
    setLeakage: (id: number, leakage: DatasetLeakage): void => void setLeakage.run(write(leakage), id),
    remove: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}
