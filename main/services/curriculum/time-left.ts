/**
 * How long a curriculum still takes: from the measured step times of stages that ran, from pre-flight checks, and for
 * longer texts than any of those as a range.
 */
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { StageRow } from '../../store/stages.ts';
import {
  configFaults,
  evaluationsFrom,
  parseConfig,
  secondsFrom,
  type TrainConfig,
} from '../../trainer/config/config.ts';
import type { ConfigFields } from '../config/presets.ts';
import { rootModel } from '../models/starting-model.ts';
import { savedFields } from '../runs/saved-config.ts';
import { evaluationSeconds, paceAfterWarmUp, secondsLeft } from '../runs/step-times.ts';
import { knownEstimate } from '../training/known-estimates.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { plannedConfig, stageDefaults } from './stage-config.ts';

/** Seconds of a stage's remaining steps and evaluations. */
export interface TimeLeft {
  readonly low: number;
  readonly high: number;
  /** measured: by its own steps; checked: by its pre-flight check; scaled: from stages of other lengths. */
  readonly basis: 'measured' | 'checked' | 'scaled';
}

/** A measured step: how long it takes with texts of this many words. */
export interface Pace {
  readonly words: number;
  readonly seconds: number;
}

/** Settings that a step's time depends on, besides the model and the length of the texts. */
const PACE_FIELDS = [
  ...['method', 'use_peft', 'lora_r', 'beta', 'backend', 'engine', 'threads', 'num_generations'],
  ...['per_device_train_batch_size', 'gradient_accumulation_steps', 'steps_per_generation', 'num_iterations'],
] as const;

/** Time left by stage; a stage that is done, or of which nothing is known, has none. */
export function stageTimes(store: Store, paths: Pick<HostPaths, 'resources'>): ReadonlyMap<number, TimeLeft> {
  const stages = store.stages.list();
  const measured = stages.flatMap((stage) => measuredPace(store, stage, paths));
  return new Map(
    stages.flatMap((stage) => {
      const steps = stepsLeft(store, stage);
      const time = steps === 0 ? null : timeOf(store, stage, steps, measured, paths);
      return time === null ? [] : [[stage.id, time] as const];
    }),
  );
}

interface MeasuredStage extends Pace {
  /** Seconds of its remaining steps and evaluations. */
  readonly left: number;
  /** Seconds of an evaluation; null: it has none. */
  readonly evaluation: number | null;
  readonly stageId: number;
  readonly key: string;
}

function measuredPace(
  store: Store,
  { id: stageId, words }: StageRow,
  paths: Pick<HostPaths, 'resources'>,
): MeasuredStage[] {
  const [run] = store.runs.ofStage(stageId);
  if (run === undefined) return [];
  const seconds = paceAfterWarmUp(store, run);
  if (seconds === null) return [];
  const left = secondsLeft(store, run, seconds) ?? 0;
  const evaluation = evaluationSeconds(store, run.id);
  return [{ stageId, words: words ?? 0, seconds, left, evaluation, key: keyOf(store, savedFields(run), paths) }];
}

/** Steps that the curriculum will still make: none of a stage that ended without meeting its rule. */
function stepsLeft(store: Store, { id: stageId, state, steps }: StageRow): number {
  if (state === 'done' || state === 'unmet') return 0;
  const [run] = store.runs.ofStage(stageId);
  return run === undefined ? steps : Math.max(0, run.maxSteps - run.step);
}

function timeOf(
  store: Store,
  stage: StageRow,
  steps: number,
  measured: readonly MeasuredStage[],
  paths: Pick<HostPaths, 'resources'>,
): TimeLeft | null {
  const own = measured.find(({ stageId }) => stageId === stage.id);
  if (own !== undefined) return { low: own.left, high: own.left, basis: 'measured' };
  const checked = checkedPace(store, stage, paths);
  // Of a run that hasn't begun: its steps and those of its warm-up.
  if (checked !== null) return { low: checked.seconds, high: checked.seconds, basis: 'checked' };
  const planned = plannedSettings(store, stage, paths);
  if (planned === null || stage.words === null) return null;
  const key = keyOf(store, planned, paths);
  const like = measured.filter((other) => other.key === key && other.words > 0);
  const range = scaledPace(like, stage.words);
  if (range === null) return null;
  const evaluated = like.flatMap(({ words, evaluation }) =>
    evaluation === null ? [] : { words, seconds: evaluation },
  );
  const each = scaledPace(evaluated, stage.words) ?? { low: 0, high: 0 };
  const evaluations = evaluationsFrom(0, planned);
  return {
    low: range.low * steps + each.low * evaluations,
    high: range.high * steps + each.high * evaluations,
    basis: 'scaled',
  };
}

/** Of its pre-flight check, for as long as its settings are the same. */
function checkedPace(store: Store, stage: StageRow, paths: Pick<HostPaths, 'resources'>): { seconds: number } | null {
  try {
    const config = plannedConfig(store, stage, paths);
    const known = knownEstimate(store, config);
    return known === null ? null : { seconds: secondsFrom(0, config, known) };
  } catch (error) {
    // Settings that don't fit together, or no dataset: it can't have been checked.
    if (error instanceof BraidError) return null;
    throw error;
  }
}

/** Its dataset doesn't matter here, and may not exist yet. Settings that don't fit together are like no others. */
function plannedSettings(store: Store, stage: StageRow, paths: Pick<HostPaths, 'resources'>): TrainConfig | null {
  const fields = { ...stageDefaults(store, stage, paths), ...stage.config, max_steps: stage.steps };
  const isRight = configFaults({ ...fields, dataset: 'planned' }).length === 0;
  return isRight ? parseConfig({ ...fields, dataset: 'planned' }, stage.name) : null;
}

function keyOf(store: Store, fields: ConfigFields, paths: Pick<HostPaths, 'resources'>): string {
  return JSON.stringify([rootOf(store, fields, paths), ...PACE_FIELDS.map((name) => fields[name] ?? null)]);
}

/** The model at the beginning: a stage's run names the checkpoint that it started from. */
function rootOf(store: Store, fields: ConfigFields, paths: Pick<HostPaths, 'resources'>): string {
  const [model, start] = [String(fields.model), fields.from_checkpoint];
  try {
    return rootModel(store, { model, from_checkpoint: typeof start === 'string' ? start : null }, paths);
  } catch (error) {
    // A start that is gone is like no other.
    if (error instanceof BraidError) return model;
    throw error;
  }
}

/**
 * Seconds of a step with texts of `words` words, from steps of other lengths. Between two measured lengths it lies
 * between theirs. Beyond, a part of a step doesn't grow with the texts, so it is at most proportional to them, and at
 * least what the two nearest lengths give when extended, or what the only one takes.
 */
export function scaledPace(measured: readonly Pace[], words: number): { low: number; high: number } | null {
  const paces = measured.toSorted((a, b) => a.words - b.words);
  const same = paces.find((pace) => pace.words === words);
  if (same !== undefined) return { low: same.seconds, high: same.seconds };
  const below = paces.filter((pace) => pace.words < words);
  const above = paces.find((pace) => pace.words > words);
  const last = below.at(-1);
  if (last === undefined) {
    if (above === undefined) return null;
    return { low: (above.seconds * words) / above.words, high: above.seconds };
  }
  if (above !== undefined) {
    const between = onLine(last, above, words);
    return { low: between, high: between };
  }
  const high = (last.seconds * words) / last.words;
  const before = below.at(-2);
  const low = before === undefined ? last.seconds : Math.max(last.seconds, onLine(before, last, words));
  return { low: Math.min(low, high), high };
}

function onLine(a: Pace, b: Pace, words: number): number {
  return a.seconds + ((b.seconds - a.seconds) * (words - a.words)) / (b.words - a.words);
}
