import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { checkpointDigests, openTiny, tinyConfig, tinyRun } from './tiny-run.ts';

let runtime: WasmRuntime;
let model: string;
const folder = mkdtempSync(join(tmpdir(), 'braid-test-'));
beforeAll(async () => {
  ({ runtime, model } = await openTiny(join(folder, 'model')));
});
afterAll(async () => {
  await closeWasmBackend(runtime);
  rmSync(folder, { recursive: true, force: true });
});

interface Case {
  readonly name: string;
  readonly config: Partial<TrainConfig>;
  /** Where the run is stopped and resumed. */
  readonly stop: number;
  /** Whether a generation is in use there, which the checkpoint must hold. */
  readonly holds: boolean;
}

const cases: readonly Case[] = [
  { name: 'LoRA', config: {}, stop: 3, holds: false },
  {
    name: 'all weights, two micro-batches a step',
    config: { use_peft: false, gradient_accumulation_steps: 2 },
    stop: 2,
    holds: false,
  },
  {
    name: 'LoRA, two iterations a generation, KL to the reference',
    config: { num_iterations: 2, beta: 0.2 },
    stop: 3,
    holds: true,
  },
  {
    name: 'all weights, a generation for three steps, two micro-batches each, KL to the reference',
    config: { use_peft: false, steps_per_generation: 6, gradient_accumulation_steps: 2, beta: 0.2 },
    stop: 4,
    holds: true,
  },
  {
    name: 'LoRA, generations that end in the middle of a step',
    config: { steps_per_generation: 3, gradient_accumulation_steps: 2, num_iterations: 2 },
    stop: 1,
    holds: true,
  },
  { name: 'supervised, LoRA', config: { method: 'sft', gradient_accumulation_steps: 2 }, stop: 3, holds: false },
  { name: 'supervised, all weights', config: { method: 'sft', use_peft: false }, stop: 5, holds: false },
];

describe.each(cases)('a run: $name', ({ config, stop, holds }) => {
  const digests = (checkpoint: string) => checkpointDigests(checkpoint, config.use_peft ?? true);

  it('gives the same numbers for the same seed, and others for another', async () => {
    const first = await tinyRun({ model, config });
    const second = await tinyRun({ model, config });
    expect(first.steps).toHaveLength(tinyConfig.max_steps ?? 0);
    expect(second.steps).toEqual(first.steps);
    expect(second.samples).toEqual(first.samples);
    expect(digests(second.checkpoint)).toEqual(digests(first.checkpoint));
    const other = await tinyRun({ model, config: { ...config, seed: 43 } });
    expect(other.steps).not.toEqual(first.steps);
    expect(digests(other.checkpoint)).not.toEqual(digests(first.checkpoint));
  });

  it(`gives the same numbers when stopped at step ${stop} and resumed`, async () => {
    const whole = await tinyRun({ model, config });
    const stopped = await tinyRun({ model, config, stopAfter: stop });
    expect(stopped.events.at(-1)).toMatchObject({ kind: 'done', step: stop, stopped: true });
    const saved = JSON.parse(readFileSync(join(stopped.checkpoint, 'rng.json'), 'utf8'));
    expect(saved.generation !== null).toBe(holds);
    const resumed = await tinyRun({ model, config, resumeFrom: stopped.checkpoint });
    expect([...stopped.steps, ...resumed.steps]).toEqual(whole.steps);
    expect([...stopped.samples, ...resumed.samples]).toEqual(whole.samples);
    expect(digests(resumed.checkpoint)).toEqual(digests(whole.checkpoint));
    const history = (checkpoint: string) => {
      const { log_history } = JSON.parse(readFileSync(join(checkpoint, 'trainer_state.json'), 'utf8'));
      return log_history.map(({ step, num_tokens, loss }: Record<string, number>) => [step, num_tokens, loss]);
    };
    expect(history(resumed.checkpoint)).toEqual(history(whole.checkpoint));
  });
});
