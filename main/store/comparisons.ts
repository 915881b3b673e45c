/** Comparisons: models evaluated on the same prompts, baseline first, with their results. */
import { columns } from './columns.ts';
import { storedJson } from './json.ts';
import type { Db } from './open.ts';

export interface ComparisonRow {
  readonly id: number;
  readonly promptSetId: number;
  readonly madeAt: number;
}

export interface ComparisonModelRow {
  /** 0: the baseline. */
  readonly position: number;
  /** `checkpoint:12`; `deleted:checkpoint:12` once its run was deleted, because ids are used again. */
  readonly reference: string;
  /** Its name when compared: the model may have been deleted since. */
  readonly name: string;
  /** null until it is evaluated. */
  readonly evaluationId: number | null;
  /** Against the baseline; null for the baseline itself, until both are evaluated, and if no prompt has both scores. */
  readonly paired: unknown;
}

type RawModel = Omit<ComparisonModelRow, 'paired'> & { readonly pairedJson: string | null };

const fields = columns(['id', 'prompt_set_id', 'made_at']);
const modelFields = columns(['position', 'reference', 'name', 'evaluation_id', 'paired_json']);

/** Before the reference of a model whose run was deleted: its id may be used again. */
const DELETED = 'deleted:';

/** Whether the model was deleted with its run. */
export function isDeletedModel({ reference }: Pick<ComparisonModelRow, 'reference'>): boolean {
  return reference.startsWith(DELETED);
}

/** Statements of the tables `comparison` and `comparison_model`. */
export function openComparisonsTable(db: Db, now: () => number) {
  const insert = db.prepare<[number, number]>('insert into comparison (prompt_set_id, made_at) values (?, ?)');
  const insertModel = db.prepare<[number, number, string, string]>(
    'insert into comparison_model (comparison_id, position, reference, name) values (?, ?, ?, ?)',
  );
  const byId = db.prepare<[number], ComparisonRow>(`select ${fields} from comparison where id = ?`);
  const list = db.prepare<[], ComparisonRow>(`select ${fields} from comparison order by made_at desc, id desc`);
  const models = db.prepare<[number], RawModel>(
    `select ${modelFields} from comparison_model where comparison_id = ? order by position`,
  );
  const settle = db.prepare<[number | null, string | null, number, number]>(
    'update comparison_model set evaluation_id = ?, paired_json = ? where comparison_id = ? and position = ?',
  );
  const touch = db.prepare<[number, number]>('update comparison set made_at = ? where id = ?');
  const markDeleted = db.prepare<[string]>(
    `update comparison_model set reference = '${DELETED}' || reference where reference = ?`,
  );
  const remove = db.prepare<[number]>('delete from comparison where id = ?');

  return {
    /** Creates a comparison of these models, none evaluated yet. Returns its id. */
    add(promptSetId: number, compared: readonly { readonly reference: string; readonly name: string }[]): number {
      const id = Number(insert.run(promptSetId, now()).lastInsertRowid);
      for (const [position, { reference, name }] of compared.entries()) insertModel.run(id, position, reference, name);
      return id;
    },
    get: (id: number): ComparisonRow | undefined => byId.get(id),
    /** Newest first. */
    list: (): ComparisonRow[] => list.all(),
    models: (id: number): ComparisonModelRow[] =>
      models.all(id).map(({ pairedJson, ...rest }) => ({
        ...rest,
        paired: pairedJson === null ? null : storedJson(pairedJson, `a result of comparison ${id}`),
      })),
    /** Sets a model's evaluation; null: it has to be run again. */
    settle: (id: number, position: number, evaluationId: number | null, paired: unknown): void =>
      void settle.run(evaluationId, paired === null ? null : JSON.stringify(paired), id, position),
    /** Moves a comparison to the top of the list. */
    touch: (id: number): void => void touch.run(now(), id),
    /** Call before the model's id may be used again: the comparison must not mean its successor. */
    markDeleted: (reference: string): void => void markDeleted.run(reference),
    remove: (id: number): boolean => remove.run(id).changes === 1,
  } as const;
}
