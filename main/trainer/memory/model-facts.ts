/** Facts about a model from its JSON and weight file headers: no tensors are created, so the host may use this. */
import { join } from 'node:path';
import { readChatTemplate } from '../../model/chat-template.ts';
import type { ModelConfig } from '../../model/config.ts';
import { openWeights } from '../../model/open-weights.ts';
import { parseAdapterConfig } from '../../model/peft-config.ts';
import { quantisedWords, shortWords } from '../../model/quantised/settings.ts';
import { readSettings } from '../../model/read-json.ts';
import { floatType, openSafetensors, type TensorEntry } from '../../model/safetensors.ts';
import { readTokenizerConfig } from '../../model/tokenizer-files.ts';
import { checkTensors, unusedWords } from '../../model/unused-tensors.ts';
import { weightFiles } from '../../model/weight-files.ts';
import { weightsOptions } from '../../model/weight-names.ts';
import type { ModelParts } from '../policy/model-parts.ts';
import {
  type Budget,
  keptAs,
  precisionFor,
  type Trained,
  type WeightBytes,
  weightBytes,
  weightCount,
} from './budget.ts';
import { checkModelFolder } from './model-folder.ts';
import { memoryPlan } from './plan.ts';
import type { StoredBytes } from './stored-bytes.ts';

export interface AdapterFacts {
  readonly rank: number;
  readonly alpha: number;
  readonly rslora: boolean;
  readonly targets: readonly string[];
  /** The last words of the names of the layers that it adapts, each once. */
  readonly layers: readonly string[];
  readonly parameters: number;
}

export interface ModelFacts {
  readonly config: ModelConfig;
  readonly parameters: number;
  /** As stored, each once: `BF16`; of quantised weights their method. */
  readonly dtypes: readonly string[];
  /** What happens to quantised weights, in a sentence. */
  readonly quantised?: string;
  /** What its files hold besides, in a sentence. */
  readonly unused?: string;
  readonly chatTemplate: boolean;
  /** The adapter; null for a full model. */
  readonly adapter: AdapterFacts | null;
}

/** Reads a model; errors name the file, tensor or field. */
export function readModelFacts({ base, adapter, tokenizer }: ModelParts): ModelFacts {
  const config = checkModelFolder(base);
  const entries = weightFiles(base).flatMap((name) => [...entriesOf(join(base, name))]);
  const unused = unusedWords(othersIn(base, config));
  return {
    config,
    parameters: weightCount(config),
    dtypes:
      config.quantisation === null
        ? [...new Set(entries.map(([, { dtype }]) => dtype))]
        : [shortWords(config.quantisation)],
    ...(config.quantisation !== null && { quantised: quantisedWords(config.quantisation) }),
    ...(unused !== null && { unused }),
    chatTemplate: readChatTemplate(tokenizer, readTokenizerConfig(tokenizer)) !== null,
    adapter: adapter === null ? null : readAdapterFacts(adapter),
  };
}

/** Tensors that the model has no place for; throws where one of its own is missing or can't be read. */
function othersIn(folder: string, config: ModelConfig): readonly string[] {
  const weights = openWeights(folder, weightsOptions(config));
  try {
    return checkTensors(weights, config);
  } finally {
    weights.close();
  }
}

/** Memory that a model needs, by use. */
export interface MemoryNeeds {
  readonly generation: number;
  readonly lora: number;
  readonly full: number;
  /** Of a frozen weight: 4, 2 where float32 would leave too little for the rest, less where it stays quantised. Full fine-tuning takes 4. */
  readonly weightBytes: WeightBytes;
}

/** The workload for these needs. */
export const USUAL = { prompts: 4, group: 16, promptTokens: 128, completionTokens: 128 } as const;
const LORA = { rank: 16 } as const;

/** The needs of the `USUAL` workload within a budget, as runs divide it: in parts where it doesn't fit at once. */
export function memoryNeeds(config: ModelConfig, budget: Budget, fileBytes: StoredBytes = 2): MemoryNeeds {
  const precision = (trained: Trained) => keptAs(precisionFor(config, trained, budget), budget.device);
  const needs = (trained: Trained): number =>
    memoryPlan(config, { ...USUAL, budget, trained, fileBytes, precision: precision(trained) }).total;
  return {
    generation: needs('none'),
    lora: needs(LORA),
    full: needs('all'),
    weightBytes: weightBytes(precision(LORA), fileBytes),
  };
}

/** Reads a LoRA checkpoint's adapter; an error names a tensor whose type can't be read as float32. */
export function readAdapterFacts(folder: string): AdapterFacts {
  const file = join(folder, 'adapter_config.json');
  const { strength, targets } = parseAdapterConfig(readSettings(file), file);
  const { r, alpha, useRslora: rslora } = strength;
  const weights = join(folder, 'adapter_model.safetensors');
  const entries = [...entriesOf(weights)];
  for (const [name, { dtype }] of entries) floatType(dtype, name, weights);
  const shapes = entries.map(([, { shape }]) => shape);
  return {
    rank: r,
    alpha,
    rslora,
    targets: typeof targets === 'string' ? [targets] : targets,
    layers: [...new Set(entries.map(([name]) => name.split('.').at(-3) ?? ''))],
    parameters: count(shapes),
  };
}

function entriesOf(file: string): ReadonlyMap<string, TensorEntry> {
  const opened = openSafetensors(file);
  opened.close();
  return opened.entries;
}

function count(shapes: readonly (readonly number[])[]): number {
  return shapes.reduce((sum, shape) => sum + shape.reduce((a, b) => a * b, 1), 0);
}
