/**
 * A pre-flight check on a remote engine: some held-out prompts and two whole steps by the training loop itself, on a
 * model that is unloaded again. The second step is timed: a server may compile in the first.
 */
import type { OpenedRemote } from '../engine/tinker/open-remote.ts';
import type { Metrics, Sample } from '../events.ts';
import { openTrialIo } from '../host/trial-io.ts';
import { remaining } from '../memory/estimate.ts';
import { trainingLoop } from '../methods.ts';
import { openPhases } from '../monitor/phases.ts';

export interface TriedSteps {
  /** Every completion of the first step. */
  readonly samples: readonly Sample[];
  readonly secondsPerStep: number;
  readonly seconds: number;
  /** Of the last of them. */
  readonly metrics: Metrics;
}

const STEPS = 2;

/** Trains so few steps; nothing of them is kept. */
export async function trySteps({ stage, engine }: Pick<OpenedRemote, 'stage' | 'engine'>): Promise<TriedSteps> {
  const max_steps = Math.min(STEPS, stage.config.max_steps);
  const short = { ...stage, config: { ...stage.config, max_steps } };
  const seen: { samples: readonly Sample[]; metrics: Metrics; seconds: number } = {
    ...{ samples: [], metrics: {}, seconds: Number.NaN },
  };
  const phases = openPhases();
  let began = performance.now();
  const io = openTrialIo(phases, {
    emit: (event) => {
      if (event.kind === 'samples' && event.step === 1) seen.samples = event.samples;
    },
    keepsSamples: (step) => step === 1,
    endStep: async (_, metrics) => {
      seen.seconds = (performance.now() - began) / 1000;
      seen.metrics = { ...metrics, ...engine.takeMetrics() };
      began = performance.now();
    },
  });
  await trainingLoop(stage.config.method)(short, engine, io);
  return { samples: seen.samples, metrics: seen.metrics, ...remaining(seen.seconds, stage.config, 0) };
}
