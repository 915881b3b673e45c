/**
 * The warm-up of a GRPO run: `warm_up_steps` steps of supervised fine-tuning (sft.ts) on the same records, so that the
 * policy's completions get rewards that differ. What follows begins as a run from the warmed-up checkpoint would.
 */
import { warmUpConfig } from '../config/config.ts';
import type { Engine } from '../engine/engine.ts';
import type { Metrics } from '../protocol/trainer-events.ts';
import type { Stage } from '../stage/stage.ts';
import type { RunIo } from './run-io.ts';
import { trainSft } from './sft.ts';

/** Does those that are left of the warm-up's steps; false if the run was stopped, and ended, among them. */
export async function warmUp(stage: Stage, engine: Engine, io: RunIo): Promise<boolean> {
  const config = warmUpConfig(stage.config);
  if (io.firstStep >= config.max_steps) return true;
  let completed = true;
  await trainSft({ ...stage, config }, engine, {
    ...io,
    begin: async () => undefined,
    endStep: async (step, metrics) => {
      // Before the checkpoint of this step: a run that resumes from it continues as this one does.
      if (step === config.max_steps) await engine.rebase();
      await io.endStep(step, ofWarmUp(metrics));
    },
    finish: async (step, stopped) => {
      if (!stopped) return;
      completed = false;
      await io.finish(step, true);
    },
  });
  return completed;
}

/** GRPO's loss, entropy and epochs are other quantities, and start with it. */
function ofWarmUp({ loss, entropy, epoch, ...shared }: Metrics): Metrics {
  const own = { loss, entropy, epoch };
  const named = Object.entries(own).flatMap(([name, value]) =>
    value === undefined ? [] : [[`warm_up/${name}`, value]],
  );
  return { ...shared, ...Object.fromEntries(named) };
}
