/** The four methods of the reply system: their state, and starting them from their presets. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import type { RunRow } from '../../store/runs.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import { type ReplyRun, replyRuns } from '../recipes/reply-presets.ts';
import { newestCheckpoint, runSummary } from '../runs/history.ts';
import { finishedAlike, type Spread, seedGroups, seedRunName, spreadOf } from '../runs/seed-groups.ts';
import type { LiveWorkspace } from '../training/live-runs.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { replyData } from './data.ts';
import { runsOfData, runsOfSplit } from './own-runs.ts';
import { chosenStart, experimentName, methodFields, type StartPoints, startPoints } from './start-points.ts';
import { readReplyState, type SplitRecord } from './stored-state.ts';

type Places = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

export interface MethodView {
  readonly name: ReplyRun;
  /** The name of its runs without the seed. */
  readonly experiment: string;
  /** Starts from the baseline's checkpoint, or the chosen one. */
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
  /** Over the seeds of finished runs; null with fewer than two. */
  readonly rewards: Spread | null;
  readonly heldOuts: Spread | null;
}

/** The state of every method, for these starting points. */
export function methodViews(
  app: Pick<LiveWorkspace, 'store' | 'workspace' | 'paths' | 'live'>,
  points: StartPoints,
): readonly MethodView[] {
  const { store, live } = app;
  const groups = seedGroups(store, runsOfData(app));
  return replyRuns.map((name) => {
    const experiment = experimentName(points, name, isReinforced(name));
    const runs = groups.find((group) => group.experiment === experiment)?.runs ?? [];
    const summaries = runs.map(({ runId }) => runSummary(store, runId)).sort((a, b) => b.id - a.id);
    const alike = finishedAlike(store, runs).map(({ runId }) => runId);
    const done = summaries.filter(({ id }) => alike.includes(id));
    const rewards = done.flatMap(({ latest }) => (latest.reward === undefined ? [] : [latest.reward.value]));
    const heldOuts = done.flatMap(({ evaluation }) => (evaluation === null ? [] : [evaluation.mean]));
    const newest = summaries[0];
    return {
      name,
      experiment,
      reinforced: isReinforced(name),
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

/** The files of a workspace's split: for supervised fine-tuning, for GRPO. */
export function phaseFiles({ datasets }: Pick<Workspace, 'datasets'>): readonly [sft: string, grpo: string] {
  return [join(datasets, 'train_phase1_sft.jsonl'), join(datasets, 'train_phase2_grpo.jsonl')];
}

/** The split of the page's records; null: there is none, or its files are gone. Those of an earlier import stay on disk. */
export function presentSplit(app: Places): SplitRecord | null {
  return phaseFiles(app.workspace).every((file) => existsSync(file)) ? readReplyState(app.store).split : null;
}

/** Starts a method on its phase of the split, named after its seed. */
export function startMethod(app: LiveWorkspace, name: ReplyRun, seed: number): number {
  const experiment = experimentName(startPoints(app), name, isReinforced(name));
  return app.live.start(methodConfig(app, name, seed), { name: seedRunName(experiment, seed) });
}

/** The configuration for starting a method; throws without its records or starting point. */
function methodConfig(
  app: Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>,
  name: ReplyRun,
  seed: number,
): TrainConfig {
  if (presentSplit(app) === null)
    throw inputError('NO_SPLIT', 'Expected the records of both phases, but they have not been split', 'Split first.');
  return plannedConfig(app, name, seed, isReinforced(name) ? reinforcementStart(app, seed) : null);
}

/** The same, whether or not its files exist. */
export function plannedConfig(
  app: Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>,
  name: ReplyRun,
  seed: number,
  start: string | null,
): TrainConfig {
  const [sft, grpo] = phaseFiles(app.workspace);
  const files = { dataset: isReinforced(name) ? grpo : sft, eval_dataset: replyData(app).test };
  return parseConfig({ ...methodFields(app, name, start), ...files, seed }, name);
}

/** The models of a comparison: the chosen starting checkpoint, then the methods that have one. */
export function methodCheckpoints(
  app: Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>,
): readonly { readonly name: string; readonly folder: string }[] {
  const points = startPoints(app);
  const chosen = chosenStart(app);
  const methods = replyRuns.flatMap((name) => {
    const folder = doneCheckpoint(app, experimentName(points, name, isReinforced(name)), null, runsOfData(app));
    return folder === null ? [] : [{ name, folder }];
  });
  return [...(chosen === null ? [] : [{ name: 'start', folder: chosen }]), ...methods];
}

/** Whether it belongs to the second phase. */
export function isReinforced(name: ReplyRun): boolean {
  return name === 'grpo_from_baseline' || name === 'polychromic_grpo';
}

/** The checkpoint that GRPO starts from: the chosen one, otherwise that of a baseline on the first part of this split. */
export function reinforcementStart(app: Places, seed: number): string {
  const folder = chosenStart(app) ?? baselineCheckpoint(app, seed);
  if (folder !== null) return folder;
  throw inputError(
    'NO_BASELINE',
    'No baseline has finished on this split, so there is nothing to start this method from',
    'Finish a baseline run first, or choose a checkpoint to start from.',
  );
}

/** null: none was trained on this split. One of another may have learned the posts of phase 2. */
export function baselineCheckpoint(app: Places, seed: number | null): string | null {
  const [sft] = phaseFiles(app.workspace);
  return doneCheckpoint(app, experimentName(startPoints(app), 'baseline', false), seed, runsOfSplit(app, sft));
}

/** From the finished run with this seed, otherwise the newest finished run. */
function doneCheckpoint(
  { store }: Places,
  name: string,
  seed: number | null,
  counts: (run: RunRow) => boolean,
): string | null {
  // Whether a run counts may take reading its files.
  const isCandidate = (run: RunRow): boolean => run.role.startsWith(`${name}/`) && counts(run);
  const runs = seedGroups(store, isCandidate).find(({ experiment }) => experiment === name)?.runs ?? [];
  const done = runs.filter(({ state }) => state === 'done').sort((a, b) => b.runId - a.runId);
  const own = done.filter((run) => run.seed === seed);
  const found = [...own, ...done].map(({ runId }) => newestCheckpoint(store, runId)).find((one) => one !== undefined);
  return found?.path ?? null;
}
