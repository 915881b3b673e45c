/** A plan as runs: each setting over the common configuration, once for every seed. Nothing is stored. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import type { NewTrial } from '../../store/sweeps.ts';
import {
  type ConfigFault,
  configFaults,
  parseConfig,
  type TrainConfig,
  totalSteps,
} from '../../trainer/config/config.ts';
import { configForm } from '../config/form.ts';
import type { ConfigFields } from '../config/presets.ts';
import { datasetFiles, GIVE_DATASET } from '../datasets/index.ts';
import { seedRunName } from '../runs/seed-groups.ts';
import { plannedSteps, rungsOf } from './halving.ts';
import { MOST_TRIALS, parsePlan, planFaults, type SettingValues, type StoredPlan, type SweepPlan } from './plan.ts';
import { experimentNames, settingLabel, settingsOf } from './settings.ts';

/** A sweep that could be stored. */
export interface SweepDraft {
  readonly name: string;
  readonly plan: StoredPlan;
  readonly trials: readonly NewTrial[];
  /** All steps, as far as known before losers are. */
  readonly steps: number;
}

/** An error of one setting. */
export interface SettingFault extends ConfigFault {
  /** The setting in words. */
  readonly setting: string;
}

/** The preview of what was typed, and every reason why it can't start. */
export interface CheckedPlan {
  readonly preview: PlanPreview | null;
  readonly faults: readonly SettingFault[];
  /** Of the plan as a whole. */
  readonly problem: string | null;
}

/** What a plan would run, for a form. */
export interface PlanPreview {
  readonly settings: readonly string[];
  readonly runs: number;
  readonly steps: number;
  readonly rungs: readonly number[] | null;
}

const MOST_FAULTS = 20;

/** Checks a plan as a form has it. */
export function checkPlan(value: unknown, base: ConfigFields, allow: AllowConfig = anything): CheckedPlan {
  const typed = planFaults(value).map((fault) => ({ ...fault, remedy: null, setting: '' }));
  if (typed.length > 0) return { preview: null, faults: typed, problem: null };
  try {
    const plan = parsePlan(value, 'The plan');
    const faults = faultsOf(plan, base, expand(plan));
    return { preview: faults.length > 0 ? null : previewOf(draftSweep(plan, base, allow)), faults, problem: null };
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return { preview: null, faults: [], problem: error.message };
  }
}

function previewOf({ plan: { settings, rungs }, trials, steps }: SweepDraft): PlanPreview {
  return { settings: settings.map(settingLabel), runs: trials.length, steps, rungs };
}

/**
 * The configuration with the paths that its author means; throws where they may not be used. Called before any file is
 * opened.
 */
export type AllowConfig = (config: TrainConfig) => TrainConfig;

const anything: AllowConfig = (config) => config;

/** The runs of a plan; throws for the first setting that can't run. */
export function draftSweep(plan: SweepPlan, base: ConfigFields, allow: AllowConfig = anything): SweepDraft {
  const settings = expand(plan);
  const [fault] = faultsOf(plan, base, settings);
  if (fault !== undefined)
    throw inputError('BAD_PLAN', `${fault.setting}: "${fault.field}": ${fault.message}`, fault.remedy ?? undefined);
  const whole = settings.map((values) => allow(parseConfig({ ...base, ...values }, settingLabel(values))));
  const halving = rungsFor(plan, whole);
  const names = experimentNames(plan.name, settings);
  const trials = plan.seeds.flatMap((seed) =>
    whole.map((config, setting): NewTrial => {
      const name = seedRunName(names[setting] ?? plan.name, seed);
      return { setting, seed, name, config: { ...evaluated(config, halving?.rungs[0]), seed }, after: null };
    }),
  );
  return {
    name: plan.name,
    plan: {
      settings: settings.map((values) => ({ ...values })),
      seeds: plan.seeds,
      rungs: halving === null ? null : [...halving.rungs],
      factor: halving?.factor ?? null,
    },
    trials,
    steps: plannedSteps(whole.map(totalSteps), plan.seeds.length, halving),
  };
}

function expand(plan: SweepPlan): readonly SettingValues[] {
  const size = Object.values(plan.fields).reduce((n, values) => n * (Array.isArray(values) ? values.length : 2), 1);
  const runs = (plan.search === 'grid' ? size : plan.trials) * plan.seeds.length;
  if (runs > MOST_TRIALS)
    throw inputError(
      'BAD_PLAN',
      `Expected at most ${MOST_TRIALS} runs, got ${runs}`,
      'Use fewer values or seeds, or random search.',
    );
  const whole = new Set(
    configForm().flatMap(({ name, input }) => (input.kind === 'number' && input.whole ? [String(name)] : [])),
  );
  return settingsOf(plan, (field) => whole.has(field));
}

function faultsOf(plan: SweepPlan, base: ConfigFields, settings: readonly SettingValues[]): readonly SettingFault[] {
  const faults = settings.flatMap((values) =>
    configFaults({ ...base, ...values }).map((fault) => ({ ...fault, setting: settingLabel(values) })),
  );
  const ranges = Object.entries(plan.fields).flatMap(([field, values]) =>
    plan.search === 'grid' && !Array.isArray(values)
      ? [{ field, message: 'expected a list of values for a grid, got a range', remedy: null, setting: plan.name }]
      : [],
  );
  const epochs = settings.flatMap((values): readonly SettingFault[] => {
    const { num_train_epochs: given } = { ...base, ...values };
    if (given == null) return [];
    const message = 'runs of a sweep are compared step by step: set max_steps in its place';
    return [{ field: 'num_train_epochs', message, remedy: null, setting: settingLabel(values) }];
  });
  return [...ranges, ...epochs, ...faults].slice(0, MOST_FAULTS);
}

/** The rungs that all runs share. They are compared by held-out scores at equal steps. */
function rungsFor(
  { halving }: SweepPlan,
  configs: readonly TrainConfig[],
): { readonly rungs: readonly number[]; readonly factor: number } | null {
  if (halving === null) return null;
  const [steps = 0, ...others] = new Set(configs.map(totalSteps));
  if (others.length > 0)
    throw inputError(
      'BAD_PLAN',
      'Expected one max_steps for all settings with successive halving, and one warm_up_steps, got several',
    );
  if (halving.min_steps >= steps)
    throw inputError(
      'BAD_PLAN',
      `Expected min_steps below the ${steps} steps of a whole run, got ${halving.min_steps}`,
    );
  for (const file of new Set(configs.map(({ dataset }) => resolve(dataset))))
    if (!existsSync(file)) throw inputError('BAD_DATASET', `${file}: the file does not exist`, GIVE_DATASET);
  if (!configs.every(hasHeldOut))
    throw inputError(
      'BAD_PLAN',
      'Expected held-out records for successive halving: losers are found by their held-out scores',
      'Use a dataset with a .test.jsonl beside it, or name one as eval_dataset.',
    );
  return { rungs: rungsOf(halving.min_steps, halving.factor, steps), factor: halving.factor };
}

/** Whether runs of a configuration can be compared by held-out scores. */
function hasHeldOut({ dataset, eval_dataset }: Pick<TrainConfig, 'dataset' | 'eval_dataset'>): boolean {
  return eval_dataset !== null || existsSync(datasetFiles(resolve(dataset)).test);
}

/** Evaluates at every rung, and at least before the first step and after the last. */
function evaluated(config: TrainConfig, first: number | undefined): TrainConfig {
  if (!hasHeldOut(config)) return config;
  const { eval_steps } = config;
  if (first === undefined) return eval_steps > 0 ? config : { ...config, eval_steps: totalSteps(config) };
  return { ...config, eval_steps: eval_steps > 0 && first % eval_steps === 0 ? eval_steps : first };
}
