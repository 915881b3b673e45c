/** Past runs for pages to show, created through the same services as real ones. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRun, finishRun, interruptRun } from '../../main/services/runs/runs.ts';
import type { Store } from '../../main/store/index.ts';
import { parseConfig, type TrainConfig } from '../../main/trainer/config/config.ts';
import { sampleOf } from '../store/helpers.ts';

export interface SeededRun {
  /** Steps done; an interrupted run was to train twice as many, unless the configuration says otherwise. */
  readonly steps: number;
  readonly config?: Partial<TrainConfig>;
  readonly stageId?: number;
  /** By default that of its folder. */
  readonly name?: string;
  /** Why it was interrupted; omitted for a finished run. */
  readonly interrupted?: string;
}

/** A run that learned: metrics and groups for each step, completions and a checkpoint every ten steps. */
export function seedRun(store: Store, { steps, config = {}, stageId, name, interrupted }: SeededRun) {
  const max_steps = interrupted === undefined ? steps : 2 * steps;
  const parsed = parseConfig({ dataset: 'datasets/10words.jsonl', max_steps, ...config });
  const made = createRun(store, parsed, {
    ...(stageId !== undefined && { stageId }),
    ...(name !== undefined && { name }),
  });
  const { runId, folder } = made;
  store.transaction(() => {
    for (let step = 1; step <= steps; step++) {
      const reward = 0.5 + (0.4 * step) / steps + 0.01 * Math.sin(step);
      const groups = { frac_reward_zero_std: 0.125, 'groups/dead': 0.125, 'groups/solved': 0 };
      store.metrics.record(runId, step, {
        reward,
        reward_std: 0.1,
        loss: 0.00001,
        grad_norm: 0.3,
        entropy: 0.4,
        step_time: 1,
        ...groups,
        'time/rollout': 0.4,
        'time/loss': 0.5,
      });
      store.promptGroups.record(runId, step, [
        { recordId: `r${step}`, outcome: 'teaches', reward },
        { recordId: 'r0', outcome: 'dead', reward: 0.5 },
      ]);
      if (step % 10 === 0) keep(store, made, step);
    }
    store.runs.advance(runId, steps);
    store.runs.setBaseline(runId, 0.5);
  });
  if (interrupted === undefined) finishRun(store, runId, 'done');
  else interruptRun(store, runId, interrupted);
  return { runId, folder, name: made.name };
}

function keep(store: Store, { runId, folder }: { runId: number; folder: string }, step: number): void {
  const path = join(folder, `checkpoint-${step}`);
  mkdirSync(path);
  store.checkpoints.record(runId, step, path.slice(store.folder.length + 1), 'periodic');
  store.samples.record(runId, step, [
    sampleOf({ reward: 1, completion: 'red one blue two' }),
    sampleOf({ index: 1, reward: 0.25, completion: 'red green' }),
  ]);
  store.events.record({
    runId,
    step,
    kind: 'warning',
    severity: 'warning',
    data: null,
    ...{ message: `Entropy falls at ${step}`, remedy: 'Lower the learning rate.' },
  });
}
