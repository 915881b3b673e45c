/** What a model is, read off its JSON and the heads of its weight files: no tensor is made, so the host may ask. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { readChatTemplate } from '../model/chat-template.ts';
import { type ModelConfig, readJson } from '../model/config.ts';
import { parameterShapes } from '../model/model.ts';
import { parseAdapterConfig } from '../model/peft-config.ts';
import { openSafetensors, type TensorEntry } from '../model/safetensors.ts';
import { weightFiles } from '../model/weight-files.ts';
import { tokenCost } from './memory.ts';
import { checkModelFolder, parameterTotal } from './model-folder.ts';
import type { ModelParts } from './open-policy.ts';

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
  /** Over the model; null for a whole one. */
  readonly adapter: AdapterFacts | null;
}

/** Reads a model; an error names the file, tensor or field that is wrong. */
export function readModelFacts({ base, adapter, tokenizer }: ModelParts): ModelFacts {
  const config = checkModelFolder(base);
  const entries = weightFiles(base).flatMap((name) => [...entriesOf(join(base, name))]);
  checkTensors(base, config, new Map(entries));
  return {
    config,
    parameters: parameterTotal(config),
    dtypes: [...new Set(entries.map(([, { dtype }]) => dtype))],
    chatTemplate: readChatTemplate(tokenizer, tokenizerConfig(tokenizer)) !== null,
    adapter: adapter === null ? null : readAdapterFacts(adapter),
  };
}

/** Bytes that a model needs in memory, by what is done with it. */
export interface MemoryNeeds {
  readonly generation: number;
  readonly lora: number;
  readonly full: number;
}

/** Node and kernels (docs/performance.md). */
const PROGRAM = 250 * 2 ** 20;
/** The default of `activation_memory_mb`: larger micro-batches are run in parts. */
const ACTIVATIONS = 1024 * 2 ** 20;
const FLOAT = 4;
/** What the needs are told for: completions at once, and tokens of a prompt with its completion. */
export const USUAL = { rows: 64, tokens: 256, rank: 16 } as const;

/** The needs for `USUAL` work in float32; training is checkpointed by layer where its activations ask for it. */
export function memoryNeeds(config: ModelConfig): MemoryNeeds {
  const shapes = [...parameterShapes(config)];
  const weights = FLOAT * parameterTotal(config);
  const cache = 2 * FLOAT * USUAL.rows * USUAL.tokens * config.numLayers * config.numKvHeads * config.headDim;
  const activations = Math.min(ACTIVATIONS, USUAL.rows * USUAL.tokens * tokenCost(config).checkpointed);
  const adapted = shapes.filter(([name]) => name.endsWith('_proj.weight'));
  const adapter = FLOAT * USUAL.rank * adapted.reduce((sum, [, [out = 0, width = 0]]) => sum + out + width, 0);
  const fixed = PROGRAM + weights;
  // What is trained has a gradient and two moments.
  return {
    generation: fixed + cache,
    lora: fixed + 4 * adapter + Math.max(cache, activations),
    full: fixed + 3 * weights + Math.max(cache, activations),
  };
}

function checkTensors(folder: string, config: ModelConfig, entries: ReadonlyMap<string, TensorEntry>): void {
  for (const [name, shape] of parameterShapes(config)) {
    const found = entries.get(name)?.shape;
    if (found?.join() === shape.join()) continue;
    throw inputError(
      found === undefined ? 'TENSOR_MISSING' : 'BAD_SHAPE',
      `${folder}: expected a tensor "${name}" of shape [${shape.join(', ')}] by config.json, got ${found === undefined ? 'none' : `[${found.join(', ')}]`}`,
      'Copy or download the whole model folder again.',
    );
  }
}

/** Reads a LoRA checkpoint's adapter. */
export function readAdapterFacts(folder: string): AdapterFacts {
  const file = join(folder, 'adapter_config.json');
  const { r, alpha, useRslora: rslora, targets } = parseAdapterConfig(readJson(file), file);
  const shapes = [...entriesOf(join(folder, 'adapter_model.safetensors')).values()].map(({ shape }) => shape);
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

function tokenizerConfig(folder: string): Readonly<Record<string, unknown>> {
  const file = join(folder, 'tokenizer_config.json');
  return existsSync(file) ? (readJson(file) as Readonly<Record<string, unknown>>) : {};
}

function count(shapes: readonly (readonly number[])[]): number {
  return shapes.reduce((sum, shape) => sum + shape.reduce((a, b) => a * b, 1), 0);
}
