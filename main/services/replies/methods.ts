/** The four methods of the reply system: how each stands, and its start from its preset. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config.ts';
import type { App } from '../app.ts';
import { readPreset } from '../presets.ts';
import { type ReplyRun, replyRuns } from '../reply-demo.ts';
import { newestCheckpoint, runSummary } from '../run-history.ts';
import { type Spread, seedGroups, seedRunName, spreadOf } from '../seed-groups.ts';
import type { Workspace } from '../workspace.ts';
import { replyData } from './data.ts';
import { chosenStart, experimentName, modelFields, type StartPoints, startPoints } from './start-points.ts';

export interface MethodView {
  readonly name: ReplyRun;
  /** What its runs are called before their seed. */
  readonly experiment: string;
  /** Starts from the baseline's checkpoint, or the one that was chosen. */
  readonly reinforced: boolean;
  readonly newest: {
    readonly runId: number;
    readonly state: string;
    readonly step: number;
    readonly maxSteps: number;
    readonly reward: number | null;
    /** Greedy replies to held-out posts: before the first step, and now. */
    readonly heldOutBefore: number | null;
    readonly heldOut: number | null;
  } | null;
  readonly seeds: readonly number[];
  /** Of runs that are done, over their seeds; null below two. */
  readonly rewards: Spread | null;
  readonly heldOuts: Spread | null;
}

/** How every method stands, from these starting points. */
export function methodViews({ store, live }: Pick<App, 'store' | 'live'>, points: StartPoints): readonly MethodView[] {
  const groups = seedGroups(store);
  return replyRuns.map((name) => {
    const experiment = experimentName(points, name, isReinforced(name));
    const runs = groups.find((group) => group.experiment === experiment)?.runs ?? [];
    const summaries = runs.map(({ runId }) => runSummary(store, runId)).sort((a, b) => b.id - a.id);
    const done = summaries.filter(({ state }) => state === 'done');
    const rewards = done.flatMap(({ latest }) => (latest.reward === undefined ? [] : [latest.reward.value]));
    const heldOuts = done.flatMap(({ evaluation }) => (evaluation === null ? [] : [evaluation.mean]));
    const newest = summaries[0];
    return {
      ...{ name, experiment, reinforced: isReinforced(name) },
      newest:
        newest === undefined
          ? null
          : {
              runId: newest.id,
              state: live.get(newest.id)?.state ?? newest.state,
              step: newest.step,
              maxSteps: newest.maxSteps,
              heldOutBefore: newest.baselineScore,
              reward: newest.latest.reward?.value ?? null,
              heldOut: newest.evaluation?.mean ?? null,
            },
      seeds: runs.map(({ seed }) => seed),
      rewards: rewards.length < 2 ? null : spreadOf(rewards),
      heldOuts: heldOuts.length < 2 ? null : spreadOf(heldOuts),
    };
  });
}

/** Where the split of a workspace lies: for supervised fitting, for reinforcement. */
export function phaseFiles({ datasets }: Pick<Workspace, 'datasets'>): readonly [sft: string, grpo: string] {
  return [join(datasets, 'train_phase1_sft.jsonl'), join(datasets, 'train_phase2_grpo.jsonl')];
}

/** Starts a method on its phase of the split, under the name of its seed. */
export function startMethod(app: App, name: ReplyRun, seed: number): number {
  const experiment = experimentName(startPoints(app), name, isReinforced(name));
  return app.live.start(methodConfig(app, name, seed), { name: seedRunName(experiment, seed) });
}

/** The configuration that starting a method trains with; refused without its records or its start. */
function methodConfig(app: Pick<App, 'store' | 'workspace' | 'paths'>, name: ReplyRun, seed: number): TrainConfig {
  const [file] = phaseFiles(app.workspace).slice(isReinforced(name) ? 1 : 0);
  if (file === undefined || !existsSync(file))
    throw inputError('NO_SPLIT', `${file}: expected the records of its phase, there is no such file`, 'Split first.');
  return plannedConfig(app, name, seed, isReinforced(name) ? reinforcementStart(app, seed) : null);
}

/** The same as it would be, whether its files are there or not. */
export function plannedConfig(
  app: Pick<App, 'store' | 'workspace' | 'paths'>,
  name: ReplyRun,
  seed: number,
  start: string | null,
): TrainConfig {
  const [sft, grpo] = phaseFiles(app.workspace);
  const own = { ...readPreset(name, app.paths), from_checkpoint: null, ...modelFields(app) };
  const from = start === null ? {} : { from_checkpoint: start };
  const files = { dataset: isReinforced(name) ? grpo : sft, eval_dataset: replyData(app).test };
  return parseConfig({ ...own, ...from, ...files, seed }, name);
}

/** What a comparison measures: the checkpoint that was chosen to start from, then the methods that have one. */
export function methodCheckpoints(
  app: Pick<App, 'store' | 'workspace' | 'paths'>,
): readonly { readonly name: string; readonly folder: string }[] {
  const points = startPoints(app);
  const chosen = chosenStart(app);
  const methods = replyRuns.flatMap((name) => {
    const folder = doneCheckpoint(app, experimentName(points, name, isReinforced(name)), null);
    return folder === null ? [] : [{ name, folder }];
  });
  return [...(chosen === null ? [] : [{ name: 'start', folder: chosen }]), ...methods];
}

/** Whether it is the second phase's. */
export function isReinforced(name: ReplyRun): boolean {
  return name === 'grpo_from_baseline' || name === 'polychromic_grpo';
}

/** The checkpoint that reinforcement starts from: the one that was chosen, else the newest baseline's. */
export function reinforcementStart(app: Pick<App, 'store' | 'workspace' | 'paths'>, seed: number): string {
  const folder = chosenStart(app) ?? doneCheckpoint(app, experimentName(startPoints(app), 'baseline', false), seed);
  if (folder !== null) return folder;
  throw inputError(
    'NO_BASELINE',
    'Expected a baseline that is done, whose checkpoint this method starts from; there is none',
    'Run the baseline to its end first, or choose a checkpoint to start from.',
  );
}

/** Of the run with this seed where that is done, else of the newest run that is. */
function doneCheckpoint({ store }: Pick<App, 'store'>, name: string, seed: number | null): string | null {
  const runs = seedGroups(store).find(({ experiment }) => experiment === name)?.runs ?? [];
  const done = runs.filter(({ state }) => state === 'done').sort((a, b) => b.runId - a.runId);
  const own = done.filter((run) => run.seed === seed);
  const found = [...own, ...done].map(({ runId }) => newestCheckpoint(store, runId)).find((one) => one !== undefined);
  return found?.path ?? null;
}
