/**
 * Low-rank adapters (Hu et al. 2021): y = Wx + B(Ax) * alpha/r, W frozen. Names and shapes are PEFT's:
 * A [r, in] starts uniform in ±1/sqrt(in), B [out, r] at 0, so that a new adapter changes nothing.
 */
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../errors.ts';
import { hashString, randomStream } from '../random.ts';
import type { ModelConfig } from './config.ts';
import type { AdaptedModules, Linear, LoraWeights } from './linear.ts';
import { type Model, modelLinears, parameterShapes } from './model.ts';
import type { ModelType } from './model-types.ts';
import { isLinearWeight } from './names.ts';
import type { Parameter } from './parameter.ts';

export interface LoraConfig {
  readonly r: number;
  readonly alpha: number;
  /** Module names or their ends: q_proj, gate_proj, model.layers.1.mlp.up_proj … */
  readonly targetModules: readonly string[];
  /** Scale by alpha / sqrt(r) instead of alpha / r. */
  readonly useRslora: boolean;
  /** Other ranks and alphas of some modules: the first of PEFT's patterns that matches a module's name counts. */
  readonly rankPattern?: Pattern;
  readonly alphaPattern?: Pattern;
}

/** Numbers by the end of a module's name, or by a regular expression for it. */
export type Pattern = Readonly<Record<string, number>>;

/** An adapter: its settings and the weights of every adapted module, by module name. */
export interface Adapter extends AdaptedModules {
  readonly config: LoraConfig;
}

type Strength = Omit<LoraConfig, 'targetModules'>;

/** A module's rank. */
export function loraRank({ r, rankPattern }: Strength, module: string): number {
  return patternValue(rankPattern, module) ?? r;
}

/** The scale of a module's B(Ax). */
export function loraScaling(config: Strength, module: string): number {
  const r = loraRank(config, module);
  return (patternValue(config.alphaPattern, module) ?? config.alpha) / (config.useRslora ? Math.sqrt(r) : r);
}

function patternValue(pattern: Pattern = {}, module: string): number | undefined {
  return Object.entries(pattern).find(([key]) => new RegExp(`^(.*\\.)?(${key})$`).test(module))?.[1];
}

/** The linear layers of a model that the adapter's settings name. */
export function adaptedLinears(model: Model, config: LoraConfig): readonly Linear[] {
  return modelLinears(model).filter(({ name }) => config.targetModules.some((target) => isModule(name, target)));
}

/** Whether a module's name is `target` or ends in it after a dot, as PEFT reads "target_modules". */
export function isModule(name: string, target: string): boolean {
  return name === target || name.endsWith(`.${target}`);
}

/** The seven linear layers of a Llama: all that it has. */
const USUAL_TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;

/** What these are called elsewhere: one matrix of Phi-3 holds several, LFM2 has names of its own. */
const FUSED: Readonly<Record<string, string>> = {
  q_proj: 'qkv_proj',
  k_proj: 'qkv_proj',
  v_proj: 'qkv_proj',
  gate_proj: 'gate_up_proj',
  up_proj: 'gate_up_proj',
};
const GRANITE_4: Readonly<Record<string, string>> = {
  gate_proj: 'input_linear',
  up_proj: 'input_linear',
  down_proj: 'output_linear',
};
const LFM2: Readonly<Record<string, string>> = { o_proj: 'out_proj', gate_proj: 'w1', up_proj: 'w3', down_proj: 'w2' };

const OWN_NAMES: Readonly<Partial<Record<ModelType, Readonly<Record<string, string>>>>> = {
  lfm2: LFM2,
  lfm3: { ...LFM2, o_proj: 'o_proj' },
  granitemoehybrid: GRANITE_4,
};

/**
 * A configuration's target modules as the model has them. All seven of a Llama are all linear layers, those of recurrent
 * mixers and of inputs by layer too.
 */
export function ownTargets({ config }: Pick<Model, 'config'>, targets: readonly string[]): readonly string[] {
  const hasMore = config.recurrent !== null || config.perLayerInput !== null || config.wideHeads !== null;
  if (hasMore && USUAL_TARGETS.every((name) => targets.includes(name))) return linearNames(config);
  const names = OWN_NAMES[config.modelType] ?? (config.fusedProjections ? FUSED : {});
  return [...new Set(targets.map((name) => (Object.hasOwn(names, name) ? (names[name] ?? name) : name)))];
}

/** The last words of the names of a model's linear layers, each once. */
function linearNames(config: ModelConfig): readonly string[] {
  const weights = [...parameterShapes(config).keys()].filter(isLinearWeight);
  return [...new Set(weights.map((name) => name.split('.').at(-2) ?? ''))];
}

/** The name that PEFT gives to a module's A or B. */
export function loraName(module: string, which: 'A' | 'B'): string {
  return `base_model.model.${module}.lora_${which}.weight`;
}

/** A target that matches nothing would silently train nothing. */
function checkTargets(model: Model, config: LoraConfig): void {
  const names = modelLinears(model).map(({ name }) => name);
  const idle = config.targetModules.find((target) => !names.some((name) => isModule(name, target)));
  if (idle === undefined && config.targetModules.length > 0) return;
  const known = [...new Set(names.map((name) => name.slice(name.lastIndexOf('.') + 1)))].join(', ');
  throw inputError(
    'BAD_TARGET_MODULES',
    `Expected "lora_target_modules" to name linear layers of the model (${known}), got ${idle === undefined ? 'none' : `"${idle}"`}`,
  );
}

/** A new adapter, determined by the seed. */
export function createAdapter(model: Model, config: LoraConfig, seed: number): Adapter {
  checkTargets(model, config);
  const modules = new Map<string, LoraWeights>();
  for (const linear of adaptedLinears(model, config)) {
    const [out, width] = linear.weight.value.shape;
    const stream = randomStream(seed, hashString(linear.name));
    const bound = 1 / Math.sqrt(width);
    const r = loraRank(config, linear.name);
    const a = Float32Array.from({ length: r * width }, () => (2 * stream.next() - 1) * bound);
    modules.set(linear.name, {
      a: { name: loraName(linear.name, 'A'), value: tf.tensor2d(a, [r, width]) },
      b: { name: loraName(linear.name, 'B'), value: tf.zeros([out, r]) },
      scaling: loraScaling(config, linear.name),
    });
  }
  return { config, modules };
}

/** The adapter's trainable parameters, module by module. */
export function adapterParameters(adapter: Adapter): readonly Parameter[] {
  return [...adapter.modules.values()].flatMap(({ a, b }) => [a, b]);
}

export function disposeAdapter(adapter: Adapter): void {
  for (const { value } of adapterParameters(adapter)) value.dispose();
}
