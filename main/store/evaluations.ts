/** Evaluations on held-out records: of a model, of a checkpoint, or in the middle of a run. */
import type { Written } from '../samples/completion.ts';
import { writtenColumns } from '../samples/sample.ts';
import type { Metrics } from '../trainer/protocol/trainer-events.ts';
import { columns, fromNull, parseNumbers } from './columns.ts';
import type { Db } from './open.ts';
import { type RecordRow, recordRows } from './record-rows.ts';

export interface EvaluationItemRow extends Written {
  readonly recordId: string;
  /** The task's main metric. */
  readonly score: number;
  readonly metrics: Metrics;
}

const itemRows = recordRows<EvaluationItemRow>(
  {
    recordId: { kind: 'text' },
    ...writtenColumns,
    score: { kind: 'number' },
    metrics: { kind: 'numbers', column: 'metrics_json' },
  },
  'evaluation_item',
);

export interface NewEvaluation {
  readonly runId: number | null;
  readonly checkpointId: number | null;
  readonly model: string;
  readonly dataset: string;
  readonly step: number;
  readonly n: number;
  readonly mean: number;
  /** Bounds of the 95% interval of the mean; null if none was computed. */
  readonly low: number | null;
  readonly high: number | null;
  readonly exactMatch: number | null;
  readonly metrics: Metrics;
  /** Made by the trainer between two steps; repeated after a resume, it replaces the earlier one. */
  readonly duringTraining: boolean;
}

export interface EvaluationRow extends NewEvaluation {
  readonly id: number;
  readonly createdAt: number;
}

export interface EvaluationFilter {
  readonly runId?: number;
  readonly model?: string;
  readonly dataset?: string;
}

/** The same record under two evaluations. */
export interface EvaluationPair {
  readonly recordId: string;
  readonly first: number;
  readonly second: number;
}

type RawEvaluation = Omit<EvaluationRow, 'metrics' | 'mean' | 'duringTraining'> & {
  readonly mean: number | null;
  readonly metricsJson: string;
  readonly duringTraining: number;
};

const fields = columns([
  'id',
  'run_id',
  'checkpoint_id',
  'model',
  'dataset',
  'step',
  'n',
  'mean',
  'low',
  'high',
  'exact_match',
  'metrics_json',
  'created_at',
  'during_training',
]);

function parse({ metricsJson, duringTraining, mean, ...rest }: RawEvaluation): EvaluationRow {
  return {
    ...rest,
    mean: fromNull(mean),
    metrics: parseNumbers(metricsJson),
    duringTraining: duringTraining === 1,
  };
}

/** Statements of the tables `evaluation` and `evaluation_item`. */
export function openEvaluationsTable(db: Db, now: () => number) {
  const replaced = db.prepare<[number | null, number, string]>(
    'delete from evaluation where run_id = ? and step = ? and dataset = ? and during_training = 1',
  );
  const insert = db.prepare<Omit<RawEvaluation, 'id'>>(
    `insert into evaluation (run_id, checkpoint_id, model, dataset, step, n, mean, low, high, exact_match,
       metrics_json, created_at, during_training)
     values (@runId, @checkpointId, @model, @dataset, @step, @n, @mean, @low, @high, @exactMatch,
       @metricsJson, @createdAt, @duringTraining)`,
  );
  const insertItem = db.prepare<RecordRow>(
    `insert into evaluation_item (evaluation_id, position, ${itemRows.names.join(', ')})
     values (@evaluation_id, @position, ${itemRows.bound})`,
  );
  const byId = db.prepare<[number], RawEvaluation>(`select ${fields} from evaluation where id = ?`);
  const list = db.prepare<{ [name in keyof EvaluationFilter]-?: EvaluationFilter[name] | null }, RawEvaluation>(
    `select ${fields} from evaluation where (@runId is null or run_id = @runId)
       and (@model is null or model = @model) and (@dataset is null or dataset = @dataset) order by step, id`,
  );
  // A statement of its own, because the general query above can't use the index.
  const ofRun = db.prepare<[number], RawEvaluation>(
    `select ${fields} from evaluation where run_id = ? order by step, during_training, id`,
  );
  const newestOfRun = db.prepare<[number, string], RawEvaluation>(
    `select ${fields} from evaluation where run_id = ? and dataset = ?
     order by during_training desc, step desc, id desc limit 1`,
  );
  const scores = db
    .prepare<[number, string], [number, number]>(
      'select step, mean from evaluation where run_id = ? and dataset = ? order by step, during_training, id',
    )
    .raw();
  const items = db.prepare<[number], RecordRow>(
    `select ${itemRows.selected} from evaluation_item where evaluation_id = ? order by position`,
  );
  const pairs = db.prepare<[number, number], EvaluationPair>(
    `select a.record_id as "recordId", a.score as first, b.score as second
     from evaluation_item a join evaluation_item b on b.record_id = a.record_id
     where a.evaluation_id = ? and b.evaluation_id = ? and a.score is not null and b.score is not null
     order by a.position`,
  );
  // Comparisons, which have no run, keep theirs: they find an evaluation by the files that it is of.
  const clear = db.prepare<{ runId: number; step: number }>(
    `delete from evaluation where run_id = @runId and (
       (step > @step and during_training = 1)
       or checkpoint_id in (select id from checkpoint where run_id = @runId and step > @step)
     )`,
  );

  const add = db.transaction((evaluation: NewEvaluation, rows: readonly EvaluationItemRow[]): number => {
    const { metrics, duringTraining, ...rest } = evaluation;
    if (duringTraining) replaced.run(rest.runId, rest.step, rest.dataset);
    const row = { ...rest, metricsJson: JSON.stringify(metrics), createdAt: now() };
    const id = Number(insert.run({ ...row, duringTraining: duringTraining ? 1 : 0 }).lastInsertRowid);
    for (const [position, item] of rows.entries())
      insertItem.run({ ...itemRows.toRow(item), evaluation_id: id, position });
    return id;
  });

  return {
    /** Stores an evaluation and its items together. */
    add: (evaluation: NewEvaluation, rows: readonly EvaluationItemRow[]): number => add(evaluation, rows),
    get(id: number): EvaluationRow | undefined {
      const row = byId.get(id);
      return row === undefined ? undefined : parse(row);
    },
    /** Evaluations that match every given field, by step. */
    list: (filter: EvaluationFilter = {}): EvaluationRow[] =>
      list
        .all({ runId: filter.runId ?? null, model: filter.model ?? null, dataset: filter.dataset ?? null })
        .map(parse),
    /** The step and mean of each evaluation of a run on a dataset, in order; the trainer's own comes last of a step. */
    scores: (runId: number, dataset: string): (readonly [step: number, mean: number])[] => scores.all(runId, dataset),
    ofRun: (runId: number): EvaluationRow[] => ofRun.all(runId).map(parse),
    /** The newest on that dataset; where the trainer made some, of those. */
    newestOfRun(runId: number, dataset: string): EvaluationRow | undefined {
      const row = newestOfRun.get(runId, dataset);
      return row === undefined ? undefined : parse(row);
    },
    items: (id: number): EvaluationItemRow[] => items.all(id).map(itemRows.fromRow),
    /** The records that both evaluations scored: the basis of wins, losses and paired intervals. */
    pairs: (first: number, second: number): EvaluationPair[] => pairs.all(first, second),
    /** Deletes what was measured beyond `step`, of later checkpoints too: their successors are other weights. */
    discardAfter: (runId: number, step: number): number => clear.run({ runId, step }).changes,
  } as const;
}
