/** Everything about one model: what it is and whether it fits this machine. */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { hostMemory } from '../../io/memory.ts';
import { type Budget, deviceBudget, isOnGpu } from '../../trainer/memory/budget.ts';
import {
  type AdapterFacts,
  type MemoryNeeds,
  type ModelFacts,
  memoryNeeds,
  readModelFacts,
  USUAL,
} from '../../trainer/memory/model-facts.ts';
import { contextLength } from '../../trainer/memory/model-folder.ts';
import { type ModelPlan, planModel } from '../../trainer/memory/model-plan.ts';
import { storedBytes } from '../../trainer/memory/stored-bytes.ts';
import { budgetFor, deviceFor, type MachineMemory } from '../doctor/machine-memory.ts';
import { listModels, type ModelEntry, type ModelPlaces } from './list.ts';
import { resolveModelParts } from './resolve.ts';

export interface ModelFile {
  readonly name: string;
  readonly bytes: number;
}

/** The details; only `problem` and the files if it can't be read. */
export interface ModelDetail {
  readonly entry: ModelEntry;
  readonly files: readonly ModelFile[];
  readonly problem: { readonly message: string; readonly remedy: string | null } | null;
  readonly facts: {
    readonly architecture: string;
    readonly parameters: number;
    readonly layers: number;
    readonly width: number;
    readonly heads: number;
    readonly keyValueHeads: number;
    readonly vocabulary: number;
    /** Maximum tokens of prompt and completion. */
    readonly context: number;
    readonly tiedEmbeddings: boolean;
    readonly dtypes: readonly string[];
    /** What happens to quantised weights, in a sentence. */
    readonly quantised?: string;
    /** What its files hold besides, in a sentence. */
    readonly unused?: string;
    readonly chatTemplate: boolean;
    readonly adapter: AdapterFacts | null;
    /** The adapter's base model folder. */
    readonly base: string | null;
  } | null;
  readonly memory: {
    readonly needs: MemoryNeeds;
    /** What a run could use here if nothing else did, and what it can use now. */
    readonly totalBytes: number;
    readonly freeBytes: number;
    /** The GPU whose memory this is; null: the machine's own. */
    readonly gpu: string | null;
    /** The options that the memory plan is for. */
    readonly rows: number;
    readonly tokens: number;
  } | null;
}

/** The model of the list, or MODEL_UNKNOWN. */
function knownModel(places: ModelPlaces, ref: string): ModelEntry {
  const entry = listModels(places).find((known) => known.ref === ref);
  if (entry !== undefined) return entry;
  throw inputError('MODEL_UNKNOWN', `There is no model "${ref}"`, 'Choose one from the list.');
}

/** Reads one model of the list, usable or not. */
export function inspectModel(places: ModelPlaces, ref: string, machine: MachineMemory): ModelDetail {
  const entry = knownModel(places, ref);
  if (entry.deleted) return unreadable(entry, [], { message: entry.problem ?? 'It was deleted', remedy: null });
  const files = filesOf(entry.folder);
  try {
    const parts = resolveModelParts(entry.model, places.paths);
    const { config, ...facts } = readModelFacts(parts);
    return {
      entry,
      files,
      problem: null,
      facts: {
        ...facts,
        architecture: config.modelType,
        layers: config.numLayers,
        width: config.hiddenSize,
        heads: config.numHeads,
        keyValueHeads: config.numKvHeads,
        vocabulary: config.vocabSize,
        context: contextLength(config),
        tiedEmbeddings: config.tieWordEmbeddings,
        base: parts.adapter === null ? null : parts.base,
      },
      memory: memoryOf(config, parts.base, machine),
    };
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return unreadable(entry, files, { message: error.message, remedy: error.remedy ?? null });
  }
}

/** On what auto computes on; of a GPU only what is free is known. */
function memoryOf(
  config: ModelFacts['config'],
  base: string,
  machine: MachineMemory,
): NonNullable<ModelDetail['memory']> {
  const device = deviceFor('auto', machine);
  const free = budgetFor(device, machine);
  const whole: Budget = isOnGpu(device) ? free : deviceBudget(device, hostMemory().totalBytes);
  return {
    needs: memoryNeeds(config, free, storedBytes(base)),
    totalBytes: whole.bytes,
    freeBytes: free.bytes,
    gpu: isOnGpu(device) ? (machine.gpu?.name ?? null) : null,
    rows: USUAL.prompts * USUAL.group,
    tokens: USUAL.promptTokens + USUAL.completionTokens,
  };
}

function unreadable(
  entry: ModelEntry,
  files: readonly ModelFile[],
  problem: NonNullable<ModelDetail['problem']>,
): ModelDetail {
  return { entry, files, problem, facts: null, memory: null };
}

/** The files of a folder, the largest first; in the Hub's cache they are links. */
function filesOf(folder: string): ModelFile[] {
  return readdirSync(folder)
    .map((name) => ({ name, stats: statSync(join(folder, name), { throwIfNoEntry: false }) }))
    .flatMap(({ name, stats }) => (stats?.isFile() === true ? [{ name, bytes: stats.size }] : []))
    .sort((a, b) => b.bytes - a.bytes);
}

/**
 * The plan for what a run on this machine computes on, or for `budget` bytes of a GPU's memory where this machine has a
 * GPU, of the native backend's where not; for a checkpoint, of its base.
 */
export function planOfModel(
  places: ModelPlaces,
  ref: string,
  budget: number | null,
  machine: MachineMemory,
): ModelPlan {
  const { base } = resolveModelParts(knownModel(places, ref).model, places.paths);
  const device = deviceFor('auto', machine);
  return planModel(base, budgetFor(budget === null || isOnGpu(device) ? device : 'native', machine, budget));
}
