/** What trainers send and runs store, for the tests of runs. */
import { join } from 'node:path';
import type { Store } from '../../../main/store/index.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { sampleOf } from '../../store/helpers.ts';

export const config = parseConfig({ dataset: 'datasets/10words.jsonl', max_steps: 60 });

/** What a trainer sends for the steps `from` to `to`: a checkpoint every 2, samples and an evaluation every 3. */
export function eventsOf(folder: string, from: number, to: number): TrainerEvent[] {
  const events: TrainerEvent[] = [];
  for (let step = from; step <= to; step++) {
    events.push({ kind: 'step', step, metrics: { reward: step / 10, loss: -step } });
    if (step % 3 === 0) {
      events.push({ kind: 'samples', step, samples: [sampleOf(), sampleOf({ index: 1 })] });
      const items = [
        { id: 'a', completion: 'x', metrics: { alignment: 0.5 } },
        { id: 'b', completion: 'y', metrics: { alignment: 1 } },
      ];
      events.push({ kind: 'evaluation', step, metrics: { eval_exact_match: 0.5 }, items });
      events.push({ kind: 'warning', step, rule: 'kl', message: 'KL is high', remedy: 'Lower the rate.' });
    }
    if (step % 2 === 0) events.push({ kind: 'checkpoint', step, path: join(folder, `checkpoint-${step}`) });
  }
  return events;
}

/** Everything a run stored, without times and row ids. */
export function snapshot(store: Store, runId: number) {
  return {
    step: store.runs.get(runId)?.step,
    metrics: store.metrics.seriesOf(runId, store.metrics.names(runId)),
    samples: store.samples.steps(runId).flatMap((step) => store.samples.byStep(runId, step)),
    evaluations: store.evaluations.list({ runId }).map(({ step, mean, n, dataset, exactMatch, id }) => {
      return { step, mean, n, dataset, exactMatch, items: store.evaluations.items(id) };
    }),
    checkpoints: store.checkpoints
      .ofRun(runId)
      .map(({ step, path, kind, deletedAt }) => ({ step, path, kind, deletedAt })),
    warnings: store.events.ofRun(runId).filter((event) => event.kind === 'warning').length,
  };
}
