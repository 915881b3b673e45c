/**
 * What all stages of the curriculum have in common: a preset and the settings over it, the model first. Stages read
 * them when they start, so a change reaches every stage that is still to come; a stage's own settings go before them.
 */
import { z } from 'zod';
import { BraidError, inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { StageRow } from '../../store/stages.ts';
import { configFaults } from '../../trainer/config/config.ts';
import { type ConfigFields, presetNames, readPreset } from '../config/presets.ts';
import type { KnownModel } from '../datasets/unwritable.ts';
import { startingModel } from '../models/starting-model.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { longTextFields } from './long-texts.ts';

export interface SharedSettings {
  readonly preset: string;
  readonly config: ConfigFields;
}

const KEY = 'curriculum';
const usual: SharedSettings = { preset: 'interleave-tiny', config: {} };
const schema = z.object({ preset: z.string(), config: z.record(z.string(), z.unknown()) });

/** Each stage's own. */
const OF_A_STAGE = [
  'task',
  'dataset',
  'eval_dataset',
  'max_steps',
  'num_train_epochs',
  'from_checkpoint',
  'eval_steps',
  'save_steps',
];

/** The stored settings; a preset that this version doesn't have counts as not set. */
export function sharedSettings(store: Pick<Store, 'settings'>, paths: Pick<HostPaths, 'resources'>): SharedSettings {
  const { data } = schema.safeParse(store.settings.get(KEY));
  return data !== undefined && presetNames(paths).includes(data.preset) ? data : usual;
}

/** What of a stage changes the preset's fields. */
export type StageTexts = Partial<Pick<StageRow, 'words' | 'config'>>;

/** The fields that a stage starts from: the preset's, what its texts change of them, and what the user has set. */
export function sharedFields(
  store: Pick<Store, 'settings'>,
  paths: Pick<HostPaths, 'resources'>,
  { words = null, config: own }: StageTexts = {},
): ConfigFields {
  const { preset, config } = sharedSettings(store, paths);
  const fields = readPreset(preset, paths);
  const model = own?.model ?? config.model ?? fields.model;
  return { ...fields, ...longTextFields({ words, preset, model }), ...config };
}

/** The model that stages train, unless they say otherwise; null: it isn't here. */
export function curriculumModel(store: Store, paths: Pick<HostPaths, 'resources' | 'models'>): KnownModel | null {
  const name = String(sharedFields(store, paths).model ?? 'tiny');
  try {
    return { name, folder: startingModel(store, { model: name, from_checkpoint: null }, paths).folder };
  } catch (error) {
    if (error instanceof BraidError) return null;
    throw error;
  }
}

/** Replaces the settings; stages that train keep theirs. */
export function changeSharedSettings(
  store: Pick<Store, 'settings'>,
  { preset, config }: SharedSettings,
  paths: Pick<HostPaths, 'resources'>,
): void {
  const own = OF_A_STAGE.find((field) => field in config);
  if (own !== undefined) throw inputError('BAD_CONFIG', `"${own}" is set at each stage, not for all of them`);
  const [fault] = configFaults({ ...readPreset(preset, paths), ...config });
  if (fault !== undefined)
    throw inputError('BAD_CONFIG', `"${fault.field}": ${fault.message}`, fault.remedy ?? undefined);
  store.settings.set(KEY, { preset, config });
}
