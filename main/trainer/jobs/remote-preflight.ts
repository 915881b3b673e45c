/**
 * A pre-flight check on a remote engine: some held-out prompts and a few whole steps by the training loop itself, on a
 * model that is unloaded again. The first isn't timed, since a server may compile in it. Those after it are as many as
 * share a generation, so that one of them samples the next: the mean is that of the run's steps.
 */
import type { Sample } from '../../samples/sample.ts';
import { stepsSharingGeneration } from '../batching/batching.ts';
import { warmUpConfig } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import { remaining } from '../local/estimate.ts';
import { trainingLoop } from '../loops/methods.ts';
import { trainSft } from '../loops/sft.ts';
import { openTrialIo } from '../loops/trial-io.ts';
import { StepAccumulator } from '../monitor/metrics.ts';
import { openPhases } from '../monitor/phases.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import type { Stage } from '../stage/stage.ts';
import type { OpenedRemote } from '../tinker/open-remote.ts';

export interface TriedSteps {
  /** Every completion of the first step. */
  readonly samples: readonly Sample[];
  readonly secondsPerStep: number;
  /** Where there is a warm-up. */
  readonly warmUpSecondsPerStep?: number;
  readonly secondsPerEvaluation?: number;
  readonly seconds: number;
  /** Means of those that are timed. */
  readonly metrics: Metrics;
}

/** Trains so few steps; nothing of them is kept. */
export async function trySteps(
  { stage, engine }: Pick<OpenedRemote, 'stage' | 'engine'>,
  secondsPerEvaluation: number | null = null,
): Promise<TriedSteps> {
  const sharing = stepsSharingGeneration(stage.config);
  const max_steps = Math.min(1 + sharing, stage.config.max_steps);
  // Of a run as short as this, every step counts.
  const firstTimed = max_steps > sharing ? 2 : 1;
  // What is sampled is what the run would start from.
  const short = { ...stage, config: { ...stage.config, max_steps, warm_up_steps: 0 } };
  let samples: readonly Sample[] = [];
  const timed = new StepAccumulator();
  let seconds = 0;
  const phases = openPhases();
  // What the held-out prompts took isn't a step's.
  engine.takeMetrics();
  let began = performance.now();
  const io = openTrialIo(phases, {
    emit: (event) => {
      if (event.kind === 'samples' && event.step === 1) samples = event.samples;
    },
    keepsSamples: (step) => step === 1,
    endStep: async (step, metrics) => {
      const taken = engine.takeMetrics();
      if (step >= firstTimed) {
        seconds += (performance.now() - began) / 1000;
        timed.add({ ...metrics, ...taken });
      }
      began = performance.now();
    },
  });
  await trainingLoop(stage.config.method)(short, engine, io);
  const paces = {
    secondsPerStep: seconds / (max_steps - firstTimed + 1),
    ...(await tryWarmUp(stage, engine)),
    ...(secondsPerEvaluation !== null && { secondsPerEvaluation }),
  };
  return { samples, metrics: timed.take(), ...remaining(paces, stage.config, 0) };
}

/** Two steps of the warm-up, of which the second is timed. */
async function tryWarmUp(stage: Stage, engine: Engine): Promise<{ readonly warmUpSecondsPerStep?: number }> {
  if (stage.config.warm_up_steps === 0) return {};
  const config = { ...warmUpConfig(stage.config), max_steps: 2 };
  let [began, seconds] = [performance.now(), 0];
  const io = openTrialIo(openPhases(), {
    endStep: async () => {
      seconds = (performance.now() - began) / 1000;
      began = performance.now();
    },
  });
  await trainSft({ ...stage, config }, engine, io);
  return { warmUpSecondsPerStep: seconds };
}
