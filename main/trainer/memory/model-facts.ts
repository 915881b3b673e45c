/** Facts about a model from its JSON and weight file headers: no tensors are created, so the host may use this. */
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { readChatTemplate } from '../../model/chat-template.ts';
import type { ModelConfig } from '../../model/config.ts';
import { parameterShapes } from '../../model/model.ts';
import { parseAdapterConfig } from '../../model/peft-config.ts';
import { readSettings } from '../../model/read-json.ts';
import { floatType, openSafetensors, type TensorEntry } from '../../model/safetensors.ts';
import { readTokenizerConfig } from '../../model/tokenizer-files.ts';
import { weightFiles } from '../../model/weight-files.ts';
import { nameIn, noTensor } from '../../model/weight-names.ts';
import type { ModelParts } from '../policy/model-parts.ts';
import { type Budget, keptAs, precisionFor, type Trained, weightBytes, weightCount } from './budget.ts';
import { checkModelFolder } from './model-folder.ts';
import { memoryPlan } from './plan.ts';
import type { StoredBytes } from './stored-bytes.ts';

export interface AdapterFacts {
  readonly rank: number;
  readonly alpha: number;
  readonly rslora: boolean;
  readonly targets: readonly string[];
  readonly parameters: number;
}

export interface ModelFacts {
  readonly config: ModelConfig;
  readonly parameters: number;
  /** As stored, each once: `BF16`. */
  readonly dtypes: readonly string[];
  readonly chatTemplate: boolean;
  /** The adapter; null for a full model. */
  readonly adapter: AdapterFacts | null;
}

/** Reads a model; errors name the file, tensor or field. */
export function readModelFacts({ base, adapter, tokenizer }: ModelParts): ModelFacts {
  const config = checkModelFolder(base);
  const entries = weightFiles(base).flatMap((name) => [...entriesOf(join(base, name))]);
  checkTensors(base, config, new Map(entries));
  return {
    config,
    parameters: weightCount(config),
    dtypes: [...new Set(entries.map(([, { dtype }]) => dtype))],
    chatTemplate: readChatTemplate(tokenizer, readTokenizerConfig(tokenizer)) !== null,
    adapter: adapter === null ? null : readAdapterFacts(adapter),
  };
}

/** Memory that a model needs, by use. */
export interface MemoryNeeds {
  readonly generation: number;
  readonly lora: number;
  readonly full: number;
  /** Of a frozen weight: 4, or 2 where float32 would leave too little for the rest. Full fine-tuning takes 4. */
  readonly weightBytes: 2 | 4;
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

function checkTensors(folder: string, config: ModelConfig, entries: ReadonlyMap<string, TensorEntry>): void {
  for (const [wanted, shape] of parameterShapes(config)) {
    const name = nameIn(entries, wanted, { tied: config.tieWordEmbeddings, textPart: config.textPart });
    const entry = name === null ? undefined : entries.get(name);
    if (entry === undefined) throw noTensor(folder, entries, wanted, shape);
    if (entry.shape.join() === shape.join()) {
      floatType(entry.dtype, wanted, folder);
      continue;
    }
    throw inputError(
      'BAD_SHAPE',
      `${folder}: expected a tensor "${name}" of shape [${shape.join(', ')}] by config.json, got [${entry.shape.join(', ')}]`,
      'Copy or download the whole model folder again.',
    );
  }
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
