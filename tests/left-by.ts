/** What a run leaves that interruptions must not change, and the small configuration that such runs have. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../main/store/index.ts';
import type { TrainConfig } from '../main/trainer/config/config.ts';
import type { Metrics } from '../main/trainer/protocol/trainer-events.ts';

/** Metrics of the machine, not of the training. */
export const OF_THE_MACHINE =
  /^time\/|^step_time$|^tokens_per_second$|^environment\/.*_(seconds|second)$|^memory_mb$|^gpu_memory/;

/** Small groups and frequent checkpoints. */
export const tinyConfig: Partial<TrainConfig> = {
  max_steps: 6,
  per_device_train_batch_size: 8,
  num_generations: 4,
  learning_rate: 0.01,
  lora_r: 2,
  lora_alpha: 4,
  sample_steps: 2,
  save_steps: 100,
  threads: 1,
};

/** Metrics that the machine's speed doesn't change. */
export function withoutTimes(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => !OF_THE_MACHINE.test(name)));
}

/** Digests of a checkpoint's weights and moments, so that a difference shows in one line. */
export function checkpointDigests(folder: string, useLora: boolean): readonly string[] {
  const weights = useLora ? 'adapter_model.safetensors' : 'model.safetensors';
  return [weights, 'optimizer.safetensors'].map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    return `${name} ${digest}`;
  });
}

/** Everything that a run left which the machine's speed and its interruptions don't change. */
export function leftBy(store: Store, runId: number, useLora: boolean) {
  const run = store.runs.get(runId);
  const folder = join(store.folder, run?.folder ?? '');
  const names = store.metrics.names(runId).filter((name) => !OF_THE_MACHINE.test(name));
  const checkpoint = store.checkpoints.ofRun(runId).at(-1);
  return {
    state: run?.state,
    step: run?.step,
    metrics: store.metrics.seriesOf(runId, names),
    samples: store.samples
      .steps(runId)
      .flatMap((step) => store.samples.byStep(runId, step))
      .map(({ runId: _, ...sample }) => sample),
    lines: readFileSync(join(folder, 'metrics.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => withoutTimes(JSON.parse(line))),
    log: readFileSync(join(folder, 'sample_outputs.log'), 'utf8'),
    checkpoint: [checkpoint?.step, checkpoint?.kind],
    bytes: checkpointDigests(join(store.folder, checkpoint?.path ?? ''), useLora),
  };
}
