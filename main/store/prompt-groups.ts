/** What the groups that a run sampled had to teach, in the order in which they were sampled. */
import type { GroupOutcome } from '../trainer/protocol/trainer-events.ts';
import { columns, fromNull } from './columns.ts';
import type { Db } from './open.ts';

export interface PromptGroupRow extends GroupOutcome {
  readonly step: number;
}

type RawGroup = Omit<PromptGroupRow, 'reward'> & { readonly reward: number | null };

/** Statements of the table `prompt_group`. */
export function openPromptGroupsTable(db: Db) {
  const clearStep = db.prepare<[number, number]>('delete from prompt_group where run_id = ? and step = ?');
  const insert = db.prepare<GroupOutcome & { runId: number; step: number; place: number }>(
    `insert into prompt_group (run_id, step, place, record_id, outcome, reward)
     values (@runId, @step, @place, @recordId, @outcome, @reward)`,
  );
  const ofRun = db.prepare<[number], RawGroup>(
    `select ${columns(['step', 'record_id', 'outcome', 'reward'])} from prompt_group where run_id = ? order by step, place`,
  );
  const clear = db.prepare<[number, number]>('delete from prompt_group where run_id = ? and step > ?');

  return {
    /** Stores a step's groups, in place of those that it had. */
    record(runId: number, step: number, groups: readonly GroupOutcome[]): void {
      clearStep.run(runId, step);
      groups.forEach((group, place) => {
        insert.run({ ...group, runId, step, place });
      });
    },
    ofRun: (runId: number): PromptGroupRow[] =>
      ofRun.all(runId).map((row) => ({ ...row, reward: fromNull(row.reward) })),
    discardAfter: (runId: number, step: number): number => clear.run(runId, step).changes,
  } as const;
}
