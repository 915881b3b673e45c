import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { checkpointDigests, openTiny, tinyConfig, tinyRun } from './tiny-run.ts';

const folder = temporaryFolderOfFile();
const { model } = await openTiny();

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

/** Random weights of an architecture, with the tiny model's words. */
function familyModel(name: string): string {
  const family = fileURLToPath(new URL(`../../parity/fixtures/families/${name}`, import.meta.url));
  const own = join(folder, name);
  cpSync(model, own, { recursive: true });
  cpSync(join(family, 'model.safetensors'), join(own, 'model.safetensors'));
  const config = JSON.parse(readFileSync(join(family, 'config.json'), 'utf8'));
  writeFileSync(join(own, 'config.json'), JSON.stringify({ ...config, eos_token_id: 1 }));
  return own;
}

describe('a run of layers of other kinds', () => {
  it.each(['olmo3', 'ministral3', 'lfm2', 'qwen3.5', 'granite4-mamba'])(
    'of %s gives the same numbers when resumed',
    async (name) => {
      const own = familyModel(name);
      // A generation for two steps, in use where the run is stopped.
      const config = { max_steps: 3, num_iterations: 2, beta: 0.2 };
      const whole = await tinyRun({ model: own, config });
      const stopped = await tinyRun({ model: own, config, stopAfter: 1 });
      const resumed = await tinyRun({ model: own, config, resumeFrom: stopped.checkpoint });
      expect([...stopped.steps, ...resumed.steps]).toEqual(whole.steps);
      expect(whole.steps.every(({ grad_norm = 0 }) => grad_norm > 0)).toBe(true);
      expect(checkpointDigests(resumed.checkpoint, true)).toEqual(checkpointDigests(whole.checkpoint, true));
    },
  );
});
