/** Reads a run's configuration: the table of its fields is schema.ts. */
import { inputError } from '../../errors.ts';
import { type ConfigFault, described, faultsIn, type KnownNames, meantName } from '../../text/field-faults.ts';
import { combinationFault } from './combinations.ts';
import { OTHER_NAMES, whyNotElsewhere } from './other-names.ts';
import { configFields, type TrainConfig, trainConfigSchema } from './schema.ts';
import { whyNotHere, withNamesHere } from './trl-names.ts';

export type { ConfigFault } from '../../text/field-faults.ts';
export { evaluationsFrom, type StepPaces, secondsFrom } from './paces.ts';
export {
  BASE_WEIGHTS,
  COMPUTE_DTYPES,
  configFields,
  type FieldMeta,
  fieldMeta,
  isReinforcement,
  type RunConfig,
  TRACKERS,
  type TrackerName,
  type TrainConfig,
  trainConfigSchema,
  trainedGroupSize,
} from './schema.ts';
export {
  advisedWarmUp,
  changesReference,
  learnsTargets,
  totalSteps,
  WARM_UP_LOSS,
  WARM_UP_STEPS,
  warmUpConfig,
  withTotalSteps,
} from './warm-up.ts';

/** transformers takes one name for a list, and "none". */
function trackerList(given: unknown): unknown {
  const [first, ...more] = Array.isArray(given) ? given : [given];
  if (first === 'none' && more.length === 0) return [];
  return typeof given === 'string' ? [given] : given;
}

/** PEFT takes "all-linear", which are all that the default names, and TRL one name for a list. */
function targetList(given: unknown): unknown {
  const [first, ...more] = Array.isArray(given) ? given : [given];
  if (first === 'all-linear' && more.length === 0) return undefined;
  return typeof given === 'string' ? [given] : given;
}

/** "auto" is how a person writes that a number is left to the machine; names may be those of TRL. */
function parsed(value: unknown) {
  return trainConfigSchema.safeParse(isFields(value) ? readable(value) : value, { reportInput: true });
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readable(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const {
    activation_memory_mb: memory,
    report_to: trackers,
    lora_target_modules: targets,
    ...rest
  } = withNamesHere(given);
  return {
    ...rest,
    ...(memory !== undefined && { activation_memory_mb: memory === 'auto' ? null : memory }),
    ...(trackers !== undefined && { report_to: trackerList(trackers) }),
    ...(targets !== undefined && { lora_target_modules: targetList(targets) }),
  };
}

/** Completes a partial configuration with defaults and checks it; errors name every invalid field. */
export function parseConfig(value: unknown, origin = 'configuration'): TrainConfig {
  const result = parsed(value);
  if (!result.success) throw inputError('BAD_CONFIG', `${origin}: ${described(result.error, names)}`);
  const fault = combinationFault(result.data);
  if (fault === null) return result.data;
  throw inputError('BAD_CONFIG', `${origin}: ${fault.message}`, fault.remedy ?? undefined);
}

/** All errors in a partial configuration, field by field; none: `parseConfig` accepts it. */
export function configFaults(value: unknown): readonly ConfigFault[] {
  const result = parsed(value);
  if (!result.success) return faultsIn(result.error, names);
  const fault = combinationFault(result.data);
  return fault === null ? [] : [fault];
}

/** Errors in single fields of a partial configuration; whether they are consistent depends on the rest. */
export function fieldFaults(value: unknown, most?: number): readonly ConfigFault[] {
  const { error } = parsed(value);
  return error === undefined ? [] : faultsIn(error, names, most);
}

/** Why a configuration can't have this field of another program's; undefined: none is known to have it, or it may. */
export function whyNot(field: string): string | undefined {
  return whyNotHere(field) ?? whyNotElsewhere(field);
}

/** The field that another name stands for. */
export function meantField(name: string): string | undefined {
  return meantName(name, names);
}

/** transformers takes TensorBoard for a tracker, here it is a folder; and shares of the run for steps. */
function instead(field: string, value: unknown): string | undefined {
  if (field === 'report_to' && value === 'tensorboard') return 'set logging_dir';
  const isShare = typeof value === 'number' && value > 0 && value < 1;
  return isShare && field.endsWith('_steps') ? "a share of the run's steps is written as a number of steps" : undefined;
}

const names: KnownNames = { fields: configFields, elsewhere: OTHER_NAMES, whyNot, instead };
