import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import type { Metrics } from '../../../main/trainer/protocol/trainer-events.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { checkpointDigests, openTiny, type TinyRun, tinyRun, tinySession } from '../run/tiny-run.ts';

const folder = temporaryFolderOfFile();
const { model } = await openTiny();

const WARM_UP = 3;
const warm: Partial<TrainConfig> = {
  warm_up_steps: WARM_UP,
  warm_up_learning_rate: 0.02,
  warm_up_batch_size: 4,
  max_steps: 4,
  beta: 0.1,
  num_iterations: 2,
};

const withoutTokens = (steps: readonly Metrics[]) => steps.map(({ num_tokens: _, ...step }) => step);
const samplesOf = ({ samples }: TinyRun) =>
  samples.flatMap((event) => (event.kind === 'samples' ? [[event.step, event.samples] as const] : []));

describe.each([
  ['LoRA', true],
  ['all weights', false],
])('a warm-up: %s', (_, use_peft) => {
  const config = { ...warm, use_peft };

  it('is the supervised run, and what follows it the GRPO run from its checkpoint, bit for bit', async () => {
    const whole = await tinyRun({ model, config });
    const { warm_up_steps: _, ...grpo } = config;
    const sft = { use_peft, method: 'sft', max_steps: WARM_UP, learning_rate: 0.02 } as const;
    const supervised = await tinyRun({ model, config: { ...sft, per_device_train_batch_size: 4 } });
    expect(whole.steps.slice(0, WARM_UP).map((step) => step['warm_up/loss'])).toEqual(
      supervised.steps.map(({ loss }) => loss),
    );
    const from_checkpoint = join(folder, `supervised-${use_peft}`);
    cpSync(supervised.checkpoint, from_checkpoint, { recursive: true });
    const after = await tinyRun({ model, config: { ...grpo, from_checkpoint } });
    expect(withoutTokens(whole.steps.slice(WARM_UP))).toEqual(withoutTokens(after.steps));
    expect(after.steps[0]?.kl).toBe(0);
    expect(after.steps.at(-1)?.kl).toBeGreaterThan(0);
    expect(samplesOf(whole)[0]?.[0]).toBe(WARM_UP + 1);
    expect(samplesOf(whole)[0]?.[1]).toEqual(samplesOf(after)[0]?.[1]);
    expect(checkpointDigests(whole.checkpoint, use_peft)).toEqual(checkpointDigests(after.checkpoint, use_peft));
  });

  it.each([1, WARM_UP, WARM_UP + 1])(
    'gives the same numbers when stopped at step %i and resumed',
    async (stopAfter) => {
      const whole = await tinyRun({ model, config });
      const stopped = await tinyRun({ model, config, stopAfter });
      expect(stopped.events.at(-1)).toMatchObject({ kind: 'done', step: stopAfter, stopped: true });
      const resumed = await tinyRun({ model, config, resumeFrom: stopped.checkpoint });
      expect([...stopped.steps, ...resumed.steps]).toEqual(whole.steps);
      expect([...stopped.samples, ...resumed.samples]).toEqual(whole.samples);
      expect(checkpointDigests(resumed.checkpoint, use_peft)).toEqual(checkpointDigests(whole.checkpoint, use_peft));
    },
  );
});

describe('a warm-up', () => {
  it('has metrics of its own, none of rewards, and is evaluated and saved where it ends', async () => {
    const records = tinySession({ model, config: {} });
    const evalRecords = records.start.records.slice(0, 2);
    records.dispose();
    const run = await tinyRun({ model, evalRecords, config: { ...warm, eval_steps: 100 } });
    const [first = {}] = run.steps;
    expect(Object.keys(first)).toEqual(
      expect.arrayContaining(['warm_up/loss', 'warm_up/entropy', 'warm_up/epoch', 'grad_norm', 'learning_rate']),
    );
    for (const name of ['loss', 'entropy', 'epoch', 'reward', 'groups/dead']) expect(first).not.toHaveProperty(name);
    expect(run.steps[WARM_UP]).toHaveProperty('reward');
    expect(run.steps[WARM_UP]).not.toHaveProperty('warm_up/loss');
    // A generation's second step reads no further tokens.
    const speeds = run.events.flatMap((event) => (event.kind === 'step' ? [event.metrics.tokens_per_second] : []));
    expect(speeds.map((speed) => speed && speed > 0)).toEqual([true, true, true, true, undefined, true, undefined]);
    const at = (kind: string) =>
      run.events.flatMap((event) => (event.kind === kind && 'step' in event ? event.step : []));
    expect(at('evaluation')).toEqual([0, WARM_UP, WARM_UP + 4]);
    expect(at('checkpoint')).toEqual([WARM_UP, WARM_UP + 4]);
    expect(at('warning')).toEqual([]);
    const state = JSON.parse(readFileSync(join(run.checkpoint, 'trainer_state.json'), 'utf8'));
    expect(state).toMatchObject({ global_step: WARM_UP + 4, max_steps: WARM_UP + 4 });
  });
});
