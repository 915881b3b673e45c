/** PEFT's adapter_config.json: the settings that Braid supports, and a clear error for the rest. */
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { withinTime } from '../time-limit.ts';
import { isModule, type LoraConfig, loraScaling, type Pattern } from './lora.ts';
import { issuesOf, shown } from './shown.ts';

/** The settings of an adapter and which modules it says to adapt. */
export interface PeftConfig {
  readonly strength: Omit<LoraConfig, 'targetModules'>;
  /** Names or ends of names; one string is "all-linear" or a regular expression on the whole name. */
  readonly targets: string | readonly string[];
  readonly excluded: string | readonly string[];
  /** Numbers of the adapted layers; null: all, as PEFT takes an empty list. */
  readonly layers: readonly number[] | null;
}

/** Far beyond any adapter: each is compared with every layer's name. */
const MOST_NAMES = 1000;
const strength = z.number().positive().max(1e15);
const names = z.union([z.string().max(MOST_NAMES), z.array(z.string()).max(MOST_NAMES)]);
const fewNames = (pattern: object): boolean => Object.keys(pattern).length <= MOST_NAMES;
const schema = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z
    .int()
    .min(1)
    .max(2 ** 18)
    .default(8),
  lora_alpha: strength.default(8),
  use_rslora: z.boolean().default(false),
  rank_pattern: z.record(z.string().max(MOST_NAMES), z.int().min(1)).refine(fewNames).nullish(),
  alpha_pattern: z.record(z.string().max(MOST_NAMES), strength).refine(fewNames).nullish(),
  target_modules: names,
  exclude_modules: names.nullish(),
  layers_to_transform: z.union([z.int(), z.array(z.int()).max(MOST_NAMES)]).nullish(),
  bias: z.string().default('none'),
  init_lora_weights: z.union([z.boolean(), z.string()]).default(true),
});

/**
 * Settings that change what an adapter computes in ways that Braid doesn't support. "fan_in_fan_out" isn't one: PEFT
 * ignores it for linear layers, and these models have no others.
 */
const FOREIGN = [
  'alora_invocation_tokens',
  'arrow_config',
  'kasa_config',
  'layer_replication',
  'lora_bias',
  'modules_to_save',
  'monteclora_config',
  'target_parameters',
  'trainable_token_indices',
  'use_bdlora',
  'use_dora',
  'use_qalora',
  'velora_config',
];
/** Initialisations that leave the base weights unchanged. Others (PiSSA, OLoRA …) rewrite them when PEFT loads. */
const PLAIN_STARTS: readonly (boolean | string)[] = [true, false, 'gaussian', 'orthogonal', 'eva'];

/** Checks a parsed adapter_config.json; `origin` identifies it in errors. */
export function parseAdapterConfig(value: unknown, origin: string): PeftConfig {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw inputError(
      'BAD_ADAPTER_CONFIG',
      `${origin}: ${issuesOf(parsed.error)}`,
      'LoRA adapters as PEFT saves them are supported.',
    );
  }
  const raw = parsed.data;
  const foreign = FOREIGN.find((key) => isSet(raw[key]));
  if (foreign !== undefined) throw unsupported(origin, foreign, raw[foreign]);
  if (raw.bias !== 'none') throw unsupported(origin, 'bias', raw.bias);
  if (!PLAIN_STARTS.includes(raw.init_lora_weights))
    throw unsupported(origin, 'init_lora_weights', raw.init_lora_weights);
  const { layers_to_transform: layers } = raw;
  return {
    strength: {
      r: raw.r,
      alpha: raw.lora_alpha,
      useRslora: raw.use_rslora,
      ...patterns('rankPattern', raw.rank_pattern, origin),
      ...patterns('alphaPattern', raw.alpha_pattern, origin),
    },
    targets: raw.target_modules,
    excluded: raw.exclude_modules ?? [],
    layers: typeof layers === 'number' ? [layers] : layers?.length ? layers : null,
  };
}

/** A pattern whose keys can be read, where it has any. */
function patterns<Key extends string>(key: Key, pattern: Pattern | null | undefined, origin: string) {
  const names = Object.keys(pattern ?? {});
  for (const name of names) regularExpression(name, origin, key === 'rankPattern' ? 'rank_pattern' : 'alpha_pattern');
  return names.length === 0 ? {} : ({ [key]: pattern } as Record<Key, Pattern>);
}

/** Whether a setting differs from its empty default. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function unsupported(origin: string, key: string, value: unknown) {
  return inputError(
    'UNSUPPORTED_ADAPTER',
    `${origin}: expected a plain LoRA adapter, got "${key}": ${shown(value)}`,
    'Plain LoRA and rsLoRA on linear layers are supported; merge this adapter into its base model with PEFT instead.',
  );
}

/** For all patterns and all layers, which otherwise takes milliseconds. */
const PATTERNS_MS = 1000;

/** The linear modules of a model that the adapter targets; none is an error. */
export function targetedModules(config: PeftConfig, modules: readonly string[], origin: string): ReadonlySet<string> {
  const late = () =>
    inputError(
      'BAD_ADAPTER_CONFIG',
      `${origin}: its patterns of layers' names take more than ${PATTERNS_MS / 1000} s to match`,
      'Write simpler expressions in "target_modules", "exclude_modules", "rank_pattern" and "alpha_pattern".',
    );
  return withinTime(
    PATTERNS_MS,
    () => {
      const found = matching(config, modules, origin);
      // The ranks and scales that are read later match the same patterns again.
      for (const name of found) loraScaling(config.strength, name);
      return found;
    },
    late,
  );
}

function matching(config: PeftConfig, modules: readonly string[], origin: string): ReadonlySet<string> {
  const wanted = config.targets === 'all-linear' ? () => true : matcher(config.targets, origin);
  const unwanted = matcher(config.excluded, origin);
  const found = modules.filter((name) => wanted(name) && !unwanted(name) && inLayers(name, config.layers));
  if (found.length === 0) {
    throw inputError(
      'ADAPTER_MISMATCH',
      `${origin}: "target_modules" ${shown(config.targets)} matches no linear layer of this model`,
      wayOn(String(config.targets), 'Use an adapter that was trained on this base model.'),
    );
  }
  return new Set(found);
}

/** What to do about an adapter's names: `otherwise`, unless they are those of a model with images as a whole. */
export function wayOn(names: string, otherwise: string): string {
  if (!names.includes('language_model')) return otherwise;
  return 'It is of a model with images as a whole, of which the decoder alone is loaded here: merge it into that model with PEFT (merge_and_unload), and use the merged one.';
}

function matcher(pattern: string | readonly string[], origin: string): (name: string) => boolean {
  if (typeof pattern !== 'string') return (name) => pattern.some((end) => isModule(name, end));
  const expression = regularExpression(pattern, origin);
  return (name) => expression.test(name);
}

function regularExpression(pattern: string, origin: string, key = 'target_modules'): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`);
  } catch (cause) {
    const reason = (cause as Error).message;
    throw Object.assign(inputError('BAD_ADAPTER_CONFIG', `${origin}: "${key}" can't be read (${reason})`), {
      cause,
    });
  }
}

function inLayers(name: string, layers: readonly number[] | null): boolean {
  const number = /\.layers\.(\d+)\./.exec(name)?.[1];
  return layers === null || (number !== undefined && layers.includes(Number(number)));
}

/** The shortest target list that matches exactly these modules of the model: last name parts, or whole names. */
export function targetNames(adapted: ReadonlySet<string>, modules: readonly string[]): readonly string[] {
  const lastWords = [...new Set([...adapted].map((name) => name.slice(name.lastIndexOf('.') + 1)))].sort();
  const named = modules.filter((name) => lastWords.some((end) => isModule(name, end)));
  return named.length === adapted.size ? lastWords : [...adapted].sort();
}
