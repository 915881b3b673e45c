/** The four methods of the reply system: how each stands, and its start from its preset. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { parseConfig } from '../../trainer/config.ts';
import type { App } from '../app.ts';
import { readPreset } from '../presets.ts';
import { type ReplyRun, replyRuns } from '../reply-demo.ts';
import { newestCheckpoint, runSummary } from '../run-history.ts';
import { type Spread, seedGroups, seedRunName, spreadOf } from '../seed-groups.ts';
import type { Workspace } from '../workspace.ts';
import { replyData } from './data.ts';

export interface MethodView {
  readonly name: ReplyRun;
  /** Starts from the baseline's checkpoint. */
  readonly reinforced: boolean;
  readonly newest: {
    readonly runId: number;
    readonly state: string;
    readonly step: number;
    readonly maxSteps: number;
    readonly reward: number | null;
    readonly heldOut: number | null;
  } | null;
  readonly seeds: readonly number[];
  /** The newest reward of runs that are done, over their seeds; null below two. */
  readonly rewards: Spread | null;
}

/** How every method stands. */
export function methodViews({ store, live }: Pick<App, 'store' | 'live'>): readonly MethodView[] {
  const groups = seedGroups(store);
  return replyRuns.map((name) => {
    const runs = groups.find(({ experiment }) => experiment === name)?.runs ?? [];
    const summaries = runs.map(({ runId }) => runSummary(store, runId)).sort((a, b) => b.id - a.id);
    const rewards = summaries.flatMap(({ state, latest }) =>
      state === 'done' && latest.reward !== undefined ? [latest.reward.value] : [],
    );
    const newest = summaries[0];
    return {
      name,
      reinforced: isReinforced(name),
      newest:
        newest === undefined
          ? null
          : {
              runId: newest.id,
              state: live.get(newest.id)?.state ?? newest.state,
              step: newest.step,
              maxSteps: newest.maxSteps,
              reward: newest.latest.reward?.value ?? null,
              heldOut: newest.evaluation?.mean ?? null,
            },
      seeds: runs.map(({ seed }) => seed),
      rewards: rewards.length < 2 ? null : spreadOf(rewards),
    };
  });
}

/** Where the split of a workspace lies: for supervised fitting, for reinforcement. */
export function phaseFiles({ datasets }: Pick<Workspace, 'datasets'>): readonly [sft: string, grpo: string] {
  return [join(datasets, 'train_phase1_sft.jsonl'), join(datasets, 'train_phase2_grpo.jsonl')];
}

/** Starts a method on its phase of the split, under the name of its seed. */
export function startMethod(app: App, name: ReplyRun, seed: number): number {
  const file = phaseFiles(app.workspace)[isReinforced(name) ? 1 : 0];
  if (!existsSync(file))
    throw inputError('NO_SPLIT', `${file}: expected the records of its phase, there is no such file`, 'Split first.');
  const fields = {
    ...readPreset(name, app.paths),
    dataset: file,
    eval_dataset: replyData(app).test,
    from_checkpoint: isReinforced(name) ? baselineCheckpoint(app, seed) : null,
    seed,
  };
  return app.live.start(parseConfig(fields, name), { name: seedRunName(name, seed) });
}

/** The newest checkpoints of the methods that have one, for a comparison; the baseline first. */
export function methodCheckpoints(app: Pick<App, 'store'>): readonly { name: ReplyRun; folder: string }[] {
  return replyRuns.flatMap((name) => {
    const folder = doneCheckpoint(app, name, null);
    return folder === null ? [] : [{ name, folder }];
  });
}

function isReinforced(name: ReplyRun): boolean {
  return name === 'grpo_from_baseline' || name === 'polychromic_grpo';
}

function baselineCheckpoint(app: Pick<App, 'store'>, seed: number): string {
  const folder = doneCheckpoint(app, 'baseline', seed);
  if (folder !== null) return folder;
  throw inputError(
    'NO_BASELINE',
    'Expected a baseline that is done, whose checkpoint this method starts from; there is none',
    'Run the baseline to its end first.',
  );
}

/** Of the run with this seed where that is done, else of the newest run that is. */
function doneCheckpoint({ store }: Pick<App, 'store'>, name: ReplyRun, seed: number | null): string | null {
  const runs = seedGroups(store).find(({ experiment }) => experiment === name)?.runs ?? [];
  const done = runs.filter(({ state }) => state === 'done').sort((a, b) => b.runId - a.runId);
  const own = done.filter((run) => run.seed === seed);
  const found = [...own, ...done].map(({ runId }) => newestCheckpoint(store, runId)).find((one) => one !== undefined);
  return found?.path ?? null;
}
