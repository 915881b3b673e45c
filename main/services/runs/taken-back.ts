/**
 * What steps took that a resume repeats. The history forgets them, but they were paid: each rewind writes the sum of
 * everything taken back so far into its event.
 */
import { z } from 'zod';
import type { Store } from '../../store/index.ts';

const takenBackSchema = z.object({
  /** Of steps. */
  seconds: z.number(),
  /** Of a priced engine. */
  engine: z.number(),
  /** Of rewards that are paid for. */
  rewards: z.number(),
});

export type TakenBack = Readonly<z.infer<typeof takenBackSchema>>;

const eventSchema = z.looseObject({ takenBack: takenBackSchema });

/** Of all resumes of a run. */
export function takenBackOf(store: Store, runId: number): TakenBack {
  const events = store.events.ofRun(runId).filter(({ kind }) => kind === 'resumed');
  // Each has the sum of those before it, and the newest isn't always the last by step.
  const all = events.flatMap(({ data }) => eventSchema.safeParse(data).data?.takenBack ?? []);
  const most = (name: keyof TakenBack): number => Math.max(0, ...all.map((one) => one[name]));
  return { seconds: most('seconds'), engine: most('engine'), rewards: most('rewards') };
}

/** The same, with the steps after `step`, which are about to be discarded. */
export function takenBackWith(store: Store, runId: number, step: number): TakenBack {
  const before = takenBackOf(store, runId);
  const range = { from: step + 1, to: Number.MAX_SAFE_INTEGER };
  const evaluations = store.evaluations.ofRun(runId).filter((one) => one.duringTraining && one.step > step);
  const steps = (name: string): number => sumOf(store.metrics.series(runId, name, range).map(({ value }) => value));
  const evaluated = (name: string): number => sumOf(evaluations.map(({ metrics }) => metrics[name] ?? 0));
  return {
    seconds: before.seconds + steps('step_time'),
    engine: before.engine + steps('engine/cost') + evaluated('eval_engine_cost'),
    rewards: before.rewards + steps('reward_cost') + evaluated('eval_reward_cost'),
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0);
}
