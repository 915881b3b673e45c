/** Everything about one model, for a person who wonders what it is and whether it fits this machine. */
import { readdirSync, statSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { type AdapterFacts, type MemoryNeeds, memoryNeeds, readModelFacts, USUAL } from '../../trainer/model-facts.ts';
import { listModels, type ModelEntry, type ModelPlaces } from '../model-list.ts';
import { resolveModelParts } from '../models.ts';

export interface ModelFile {
  readonly name: string;
  readonly bytes: number;
}

/** What was read; only `problem` and the files where it could not be. */
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
    /** Tokens of prompt and completion, at most. */
    readonly context: number;
    readonly tiedEmbeddings: boolean;
    readonly dtypes: readonly string[];
    readonly chatTemplate: boolean;
    readonly adapter: AdapterFacts | null;
    /** The folder under an adapter. */
    readonly base: string | null;
  } | null;
  readonly memory: {
    readonly needs: MemoryNeeds;
    readonly totalBytes: number;
    readonly freeBytes: number;
    /** What the needs are told for. */
    readonly rows: number;
    readonly tokens: number;
  } | null;
}

/** The model of the list, or MODEL_UNKNOWN. */
export function knownModel(places: ModelPlaces, ref: string): ModelEntry {
  const entry = listModels(places).find((known) => known.ref === ref);
  if (entry !== undefined) return entry;
  throw inputError('MODEL_UNKNOWN', `Expected a model that the app knows, got "${ref}"`, 'Choose one from the list.');
}

/** Reads one model of the list, usable or not. */
export function inspectModel(places: ModelPlaces, ref: string): ModelDetail {
  const entry = knownModel(places, ref);
  if (entry.deleted) return unreadable(entry, [], { message: entry.problem ?? 'It was deleted', remedy: null });
  const files = filesOf(entry.folder);
  try {
    const parts = resolveModelParts(entry.model, places.paths);
    const { config, ...facts } = readModelFacts(parts);
    return {
      ...{ entry, files, problem: null },
      facts: {
        ...facts,
        architecture: config.modelType,
        layers: config.numLayers,
        width: config.hiddenSize,
        heads: config.numHeads,
        keyValueHeads: config.numKvHeads,
        vocabulary: config.vocabSize,
        context: config.maxPositionEmbeddings,
        tiedEmbeddings: config.tieWordEmbeddings,
        base: parts.adapter === null ? null : parts.base,
      },
      memory: {
        ...{ needs: memoryNeeds(config), totalBytes: totalmem(), freeBytes: freemem() },
        ...{ rows: USUAL.rows, tokens: USUAL.tokens },
      },
    };
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return unreadable(entry, files, { message: error.message, remedy: error.remedy ?? null });
  }
}

function unreadable(
  entry: ModelEntry,
  files: readonly ModelFile[],
  problem: NonNullable<ModelDetail['problem']>,
): ModelDetail {
  return { entry, files, problem, facts: null, memory: null };
}

/** The files of a folder, the largest first. */
function filesOf(folder: string): ModelFile[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ name }) => ({ name: name, bytes: statSync(join(folder, name)).size }))
    .sort((a, b) => b.bytes - a.bytes);
}
