/** A sweep for its page: its trials, and one table of settings with mean ± interval over seeds. */
import type { Store } from '../../store/index.ts';
import type { RunState } from '../../store/runs.ts';
import type { SweepRow, SweepState, TrialRow, TrialState } from '../../store/sweeps.ts';
import { reaches } from '../../text/intervals.ts';
import { EVALUATION_TIME } from '../../trainer/config/evaluations.ts';
import { passThresholds } from '../comparisons/sampled/measures.ts';
import { trainingScores } from '../runs/promotion.ts';
import { plannedSteps } from './halving.ts';
import { readPlan, type SettingValues, type StoredPlan, storedPlan } from './plan.ts';
import { scoreOf, type TrialScore } from './scores.ts';
import { settingLabel } from './settings.ts';
import {
  isClearlyBest,
  type Lead,
  leaderOf,
  leads,
  type PassRate,
  passOverSeeds,
  type SeedScores,
  type SettingScore,
  settingScore,
} from './statistics.ts';
import { requireSweep } from './sweep-runs.ts';

export interface TrialView extends Pick<TrialRow, 'id' | 'seed' | 'name' | 'runId' | 'rung' | 'reason'> {
  readonly state: TrialState;
  /** null: its run hasn't started, or was deleted. */
  readonly run: { readonly state: RunState; readonly step: number; readonly maxSteps: number } | null;
  /** Its newest. */
  readonly score: TrialScore | null;
}

export interface SettingRow extends SettingScore {
  readonly setting: number;
  readonly values: SettingValues;
  readonly label: string;
  readonly trials: readonly TrialView[];
  /** Steps after which successive halving stopped it; null: it didn't. */
  readonly stoppedAt: number | null;
  /** How far the leader is ahead of it, at equal steps; null for the leader, and where it can't be tested. */
  readonly behind: Lead | null;
  /** The highest mean. */
  readonly leads: boolean;
  /** As high as the leader's mean, or it is the leader's and another's is as high. */
  readonly tied: boolean;
  /** Significantly better than every other setting. */
  readonly best: boolean;
  /** Empty without a success threshold, or with fewer than two seeds. */
  readonly passRates: readonly PassRate[];
}

export interface SweepSummary {
  readonly id: number;
  readonly name: string;
  readonly state: SweepState;
  readonly reason: string | null;
  /** It waits in the queue, or advances by it. */
  readonly inQueue: boolean;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly settings: number;
  /** The fields that vary; none if the plan can't be read. */
  readonly fields: readonly string[];
  readonly seeds: readonly number[];
  readonly runs: number;
  /** Ended for good. */
  readonly over: number;
  readonly failed: number;
  /** The run in training. */
  readonly runId: number | null;
  /** The setting with the highest mean so far, and how many share it; null: none has a score. */
  readonly leader: (SettingScore & Pick<SettingRow, 'values' | 'label'> & { readonly tied: number }) | null;
}

export interface SweepView extends SweepSummary {
  readonly rungs: readonly number[] | null;
  readonly scoreKind: TrialScore['kind'] | null;
  readonly rows: readonly SettingRow[];
  /** What a record needs to pass; null: the task's own rule, or none. */
  readonly threshold: number | null;
  readonly steps: { readonly done: number; readonly planned: number };
  /** At the pace of its runs; null before the first step, and at the end. */
  readonly secondsLeft: number | null;
}

const OVER: readonly TrialState[] = ['done', 'collapsed', 'eliminated', 'failed', 'cancelled'];
/** Their newest score is that of the whole run. */
const FINAL: readonly TrialState[] = ['done', 'collapsed'];

/** Means closer than this differ by rounding only. */
const EQUAL = 1e-9;

/** All sweeps, newest first. */
export function listSweeps(store: Store): readonly SweepSummary[] {
  return store.sweeps.list().map((sweep) => summaryOf(store, sweep, store.sweeps.trials(sweep.id)));
}

/** From its trials alone: a list shows sweeps whose plan can't be read, too. */
function summaryOf(store: Store, sweep: SweepRow, trials: readonly TrialRow[]): SweepSummary {
  const { id, name, state, reason, queuedAt, createdAt, endedAt } = sweep;
  return {
    id,
    name,
    state,
    reason,
    createdAt,
    endedAt,
    seeds: [...new Set(trials.map(({ seed }) => seed))],
    inQueue: queuedAt !== null,
    settings: new Set(trials.map(({ setting }) => setting)).size,
    fields: [...new Set(readPlan(sweep)?.settings.flatMap((values) => Object.keys(values)))],
    runs: trials.length,
    over: trials.filter((trial) => OVER.includes(trial.state)).length,
    failed: trials.filter((trial) => trial.state === 'failed').length,
    runId: trials.find((trial) => trial.state === 'running')?.runId ?? null,
    leader: leadingSetting(store, sweep, trials),
  };
}

function leadingSetting(store: Store, sweep: SweepRow, trials: readonly TrialRow[]): SweepSummary['leader'] {
  const plan = readPlan(sweep);
  if (plan === null) return null;
  const finals = plan.settings.map((_, setting) =>
    scoresOf(
      store,
      trials.filter((trial) => trial.setting === setting),
      ({ state }) => FINAL.includes(state),
    ),
  );
  const values = plan.settings[leaderOf(finals) ?? -1];
  const scores = finals[leaderOf(finals) ?? -1];
  if (values === undefined || scores === undefined) return null;
  const score = settingScore(scores);
  const tied = finals.filter(
    (of) => Math.abs((settingScore(of).mean ?? Number.NaN) - (score.mean ?? Number.NaN)) < EQUAL,
  ).length;
  return { ...score, values, label: settingLabel(values), tied };
}

/** One sweep with its table. */
export function sweepView(store: Store, sweepId: number): SweepView {
  const sweep = requireSweep(store, sweepId);
  const plan = storedPlan(sweep);
  const trials = store.sweeps.trials(sweepId);
  const rows = settingRows(store, plan, trials);
  const steps = stepsOf(store, plan, trials);
  const scored = rows.flatMap((row) => row.trials).find(({ score }) => score !== null);
  return {
    ...summaryOf(store, sweep, trials),
    rungs: plan.rungs,
    scoreKind: scored?.score?.kind ?? null,
    rows,
    threshold: thresholdOf(trials),
    steps,
    secondsLeft: sweep.state === 'done' || sweep.state === 'cancelled' ? null : secondsLeft(store, trials, steps),
  };
}

function settingRows(store: Store, plan: StoredPlan, trials: readonly TrialRow[]): readonly SettingRow[] {
  const own = plan.settings.map((_, setting) => trials.filter((trial) => trial.setting === setting));
  const finals = own.map((list) => scoresOf(store, list, ({ state }) => FINAL.includes(state)));
  const lead = leaderOf(finals);
  const rivals = own.flatMap((list, setting) => {
    if (setting === lead || lead === null) return [];
    const stop = stoppedAt(plan, list);
    const pair =
      stop === null
        ? { leader: finals[lead] ?? new Map(), other: finals[setting] ?? new Map() }
        : { leader: scoresOf(store, own[lead] ?? [], isCounted, stop), other: scoresOf(store, list, isCounted, stop) };
    return [{ setting, pair }];
  });
  const tests = leads(rivals.map(({ pair }) => pair));
  const behind = new Map(rivals.map(({ setting }, i) => [setting, tests[i] ?? null]));
  const top = lead === null ? null : settingScore(finals[lead] ?? new Map()).mean;
  const level = finals.flatMap((scores, setting) => {
    const { mean } = settingScore(scores);
    const isTop = mean !== null && top !== null && Math.abs(mean - top) < EQUAL;
    return isTop && stoppedAt(plan, own[setting] ?? []) === null ? setting : [];
  });
  return plan.settings.map((values, setting) => {
    const list = own[setting] ?? [];
    const stop = stoppedAt(plan, list);
    const counted = stop === null ? finals[setting] : scoresOf(store, list, isCounted, stop);
    return {
      setting,
      values,
      label: settingLabel(values),
      stoppedAt: stop,
      leads: setting === lead,
      ...settingScore(counted ?? new Map()),
      trials: list.map((trial) => trialView(store, trial)),
      behind: behind.get(setting) ?? null,
      tied: level.length > 1 && level.includes(setting),
      best: setting === lead && isClearlyBest(tests),
      passRates: passRates(store, list),
    };
  });
}

const isCounted = ({ state }: TrialRow): boolean => FINAL.includes(state) || state === 'eliminated';

function stoppedAt(plan: StoredPlan, trials: readonly TrialRow[]): number | null {
  const loser = trials.find(({ state }) => state === 'eliminated');
  return loser === undefined ? null : (plan.rungs?.[loser.rung] ?? null);
}

function scoresOf(
  store: Store,
  trials: readonly TrialRow[],
  counts: (trial: TrialRow) => boolean,
  upTo?: number,
): SeedScores {
  return new Map(
    trials.filter(counts).flatMap(({ seed, runId }) => {
      const score = runId === null ? null : scoreOf(store, runId, upTo);
      return score === null ? [] : [[seed, score.value] as const];
    }),
  );
}

function trialView(store: Store, { id, seed, name, runId, rung, reason, state }: TrialRow): TrialView {
  const run = runId === null ? undefined : store.runs.get(runId);
  return {
    id,
    seed,
    name,
    runId,
    rung,
    reason,
    state,
    run: run === undefined ? null : { state: run.state, step: run.step, maxSteps: run.maxSteps },
    score: run === undefined ? null : scoreOf(store, run.id),
  };
}

/** Which records the last held-out evaluations of finished trials passed. */
function passRates(store: Store, trials: readonly TrialRow[]): readonly PassRate[] {
  const threshold = thresholdOf(trials);
  const seeds = trials
    .filter(({ state }) => state === 'done')
    .flatMap(({ runId }) => {
      const last = runId === null ? undefined : trainingScores(store, runId).at(-1);
      if (last === undefined) return [];
      const items = store.evaluations.items(last.id);
      const passes = items.flatMap(({ recordId, score, metrics }) => {
        const passed = threshold === null ? metrics.success : Number(reaches(score, threshold));
        return passed === undefined || Number.isNaN(passed) ? [] : [[recordId, passed === 1] as const];
      });
      return passes.length === 0 ? [] : [new Map(passes)];
    });
  return passOverSeeds(seeds);
}

/** Of the bundled tasks; a folder's task says itself whether a completion succeeds. */
function thresholdOf([first]: readonly TrialRow[]): number | null {
  const task = first?.config.task;
  return task === 'interleave' || task === 'reply' ? passThresholds[task] : null;
}

function stepsOf(store: Store, plan: StoredPlan, trials: readonly TrialRow[]): SweepView['steps'] {
  const maxSteps = plan.settings.map((_, setting) => {
    const { max_steps: steps, warm_up_steps: warmUp } = trials.find((trial) => trial.setting === setting)?.config ?? {};
    return (typeof steps === 'number' ? steps : 0) + (typeof warmUp === 'number' ? warmUp : 0);
  });
  const halving = plan.rungs === null || plan.factor === null ? null : { rungs: plan.rungs, factor: plan.factor };
  // A run finishes the step at which its rung ends, and may have trained past it: those steps are not in the plan.
  const doneOf = ({ runId, rung }: TrialRow): number =>
    runId === null ? 0 : Math.min(store.runs.get(runId)?.step ?? 0, plan.rungs?.[rung] ?? Number.POSITIVE_INFINITY);
  const done = trials.reduce((sum, trial) => sum + doneOf(trial), 0);
  return { done, planned: Math.max(done, plannedSteps(maxSteps, plan.seeds.length, halving)) };
}

function secondsLeft(store: Store, trials: readonly TrialRow[], steps: SweepView['steps']): number | null {
  const overall = (name: string) =>
    trials.flatMap(({ runId }) => (runId === null ? [] : [store.metrics.overall(runId, name)]));
  const total = (name: string): number => overall(name).reduce((sum, { count, mean }) => sum + count * (mean || 0), 0);
  const count = overall('step_time').reduce((sum, pace) => sum + pace.count, 0);
  if (count === 0) return null;
  const seconds = total('step_time') + total(EVALUATION_TIME);
  return (seconds / count) * (steps.planned - steps.done);
}
