/**
 * Supervised fine-tuning on completions: loss = -sum of log p(target token) / number of target tokens, over all
 * micro-batches of a step (as transformers normalises by num_items_in_batch). Prompt tokens carry no loss.
 * Polychromic SFT adds a term for the diversity of the policy's own samples (diversity-term.ts).
 */
import type { PromptGroup } from '../../model/pack.ts';
import { recordAt } from '../batching/batching.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { Engine } from '../engine/engine.ts';
import { checkLoss, checkNorm } from '../losses/not-finite.ts';
import { learningRate } from '../optim/schedule.ts';
import type { Stage } from '../stage/stage.ts';
import { diversityTerm, type LossTerm } from './diversity-term.ts';
import type { RunIo } from './run-io.ts';

/** Trains for the configured number of steps; `io` reports, saves and receives commands. */
export function trainSft(stage: Stage, engine: Engine, io: RunIo): Promise<void> {
  return trainSupervised(stage, engine, io, null);
}

/** Polychromic SFT: L_quality − lambda · D of the policy's own samples for `polychromic_prompts` of the prompts. */
export function trainPolychromicSft(stage: Stage, engine: Engine, io: RunIo): Promise<void> {
  return trainSupervised(stage, engine, io, (prompts, step) =>
    diversityTerm(stage, engine, prompts.slice(0, stage.config.polychromic_prompts ?? prompts.length), step, io),
  );
}

/** `term` adds to the loss of a step on its records; null: none. */
async function trainSupervised(
  stage: Stage,
  engine: Engine,
  io: RunIo,
  term: ((records: readonly TokenRecord[], step: number) => Promise<LossTerm>) | null,
): Promise<void> {
  const { config } = stage;
  await io.begin();
  for (let step = io.firstStep; step < config.max_steps; step++) {
    if ((await io.control.checkIn(step)) === 'stop') return io.finish(step, true);
    const rate = learningRate(config, step);
    const records = sftRecords(stage, step);
    const micro = records.map((batch) => batch.flatMap(groupsOf));
    const metrics = await io.phases.time('step', async () => {
      const quality = await engine.targetLoss(micro);
      checkLoss(quality.loss, records.flat());
      const more = term === null ? null : await term(records.flat(), step);
      const { gradNorm } = await engine.step(rate);
      checkNorm(gradNorm);
      const parts = more === null ? {} : { ...more.metrics, 'polychromic/quality_loss': quality.loss };
      const entropy = quality.entropy === null ? {} : { entropy: quality.entropy };
      const norm = gradNorm === null ? {} : { grad_norm: gradNorm };
      return { loss: quality.loss + (more?.loss ?? 0), ...norm, ...entropy, ...parts };
    });
    io.addTokens(micro.flat().reduce((sum, group) => sum + tokensOf(group), 0));
    const perEpoch = stage.records.length / (config.per_device_train_batch_size * config.gradient_accumulation_steps);
    await io.endStep(step + 1, { ...metrics, learning_rate: rate, epoch: (step + 1) / perEpoch });
  }
  return io.finish(config.max_steps, false);
}

/** The records of each micro-batch of one step, from the seeded stream of epochs. */
function sftRecords(stage: Stage, step: number): TokenRecord[][] {
  const { config, records } = stage;
  const size = config.per_device_train_batch_size;
  const first = step * config.gradient_accumulation_steps;
  const stream = { records: records.length, seed: config.seed, shuffle: config.shuffle_dataset };
  return Array.from({ length: config.gradient_accumulation_steps }, (_, m) =>
    Array.from({ length: size }, (_, i) => records[recordAt(stream, (first + m) * size + i)]).flatMap(
      (record) => record ?? [],
    ),
  );
}

function groupsOf({ promptIds, targetIds, lessons }: TokenRecord): readonly PromptGroup[] {
  return lessons ?? [{ promptIds, completions: [targetIds] }];
}

function tokensOf({ promptIds, completions }: PromptGroup): number {
  return promptIds.length + completions.reduce((sum, ids) => sum + ids.length, 0);
}
