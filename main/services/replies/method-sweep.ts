/** The four methods of the reply system with several seeds, as one sweep: GRPO starts from its seed's baseline. */
import type { NewTrial } from '../../store/sweeps.ts';
import { replyRuns } from '../recipes/reply-presets.ts';
import { seedRunName } from '../runs/seed-groups.ts';
import type { SweepDraft } from '../sweeps/draft.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { isReinforced, plannedConfig, presentSplit } from './methods.ts';
import { chosenStart, experimentName, startPoints } from './start-points.ts';

/** How the replies are split where that hasn't been done. */
export const usualSplit = { ratio: 0.5, seed: 42 } as const;

/** The runs; `split` is called first where the replies haven't been split. */
export async function draftMethods(
  app: Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>,
  seeds: readonly number[],
  split: () => Promise<unknown>,
): Promise<SweepDraft> {
  if (presentSplit(app) === null) await split();
  const points = startPoints(app);
  const start = chosenStart(app);
  const trials = [...new Set(seeds)].flatMap((seed, group) =>
    replyRuns.map((method, setting): NewTrial => {
      const reinforced = isReinforced(method);
      const config = plannedConfig(app, method, seed, reinforced ? start : null);
      const name = seedRunName(experimentName(points, method, reinforced), seed);
      // The baseline is the first of its seed's runs.
      return { setting, seed, name, config, after: reinforced && start === null ? group * replyRuns.length : null };
    }),
  );
  const steps = trials.reduce((sum, { config }) => sum + Number(config.max_steps), 0);
  return {
    name: 'Reply methods',
    plan: { settings: replyRuns.map((method) => ({ method })), seeds: [...new Set(seeds)], rungs: null, factor: null },
    trials,
    steps,
  };
}
