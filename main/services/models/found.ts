/** Models that other programs have on this machine: what each is, and whether Braid can train it here. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { readGgufFacts } from '../../trainer/memory/gguf-facts.ts';
import { type ModelFacts, memoryNeeds, readModelFacts } from '../../trainer/memory/model-facts.ts';
import { budgetFor, deviceFor, type MachineMemory } from '../doctor/machine-memory.ts';
import { nameOfModel } from './convert-gguf.ts';
import { type FoundFile, filesOf } from './found-files.ts';
import { type FoundPlace, foundPlaces } from './found-places.ts';
import { importedModels } from './imported-folders.ts';
import type { ModelPlaces } from './list.ts';

export interface FoundModel extends FoundFile {
  /** `llama`; null where Braid doesn't know it. */
  readonly architecture: string | null;
  readonly parameters: number | null;
  /** How most weights are stored: `Q4_K`, `BF16`. */
  readonly weights: string | null;
  /** Bits that they were rounded to; null: they weren't. */
  readonly bits: number | null;
  /** Bytes that a run takes here, and which run there is room for now. */
  readonly memory: { readonly lora: number; readonly full: number; readonly fits: 'full' | 'lora' | 'none' } | null;
  /** Why Braid can't train it; null: it can. */
  readonly problem: string | null;
  /** Its reference among Braid's models; null: it isn't one yet. */
  readonly ref: string | null;
}

type Places = Pick<ModelPlaces, 'store' | 'workspace'>;

/** Many more than anyone has: reading the head of each takes some milliseconds. */
const MOST = 500;

/** By source, then by name. */
export async function foundModels(
  places: Places,
  machine: MachineMemory,
  where: readonly FoundPlace[] = foundPlaces(),
): Promise<readonly FoundModel[]> {
  const files = (await Promise.all(where.map((place) => filesOf(place)))).flatMap((found) =>
    found.toSorted((a, b) => a.name.localeCompare(b.name, 'en')),
  );
  const imported = new Set(importedModels(places.store).map(({ folder }) => folder));
  const models: FoundModel[] = [];
  for (const file of files.slice(0, MOST)) {
    models.push({ ...file, ...facts(file, machine), ref: refOf(file, places.workspace, imported) });
    // The host has others to serve.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return models;
}

/** One of them by its path: no other path is taken. */
export async function requireFound(path: string): Promise<FoundFile> {
  const found = await findFound((file) => file.path === path);
  if (found !== null) return found;
  throw inputError('MODEL_UNKNOWN', `${path}: the model is no longer there`, 'Open the list again.');
}

export async function findFound(isIt: (file: FoundFile) => boolean): Promise<FoundFile | null> {
  for (const place of foundPlaces()) {
    const found = (await filesOf(place)).find(isIt);
    if (found !== undefined) return found;
  }
  return null;
}

type Known = Pick<FoundModel, 'architecture' | 'parameters' | 'weights' | 'bits' | 'memory' | 'problem'>;
type Read = Omit<Known, 'memory'> & { readonly config: ModelFacts['config'] | null };

function facts(file: FoundFile, machine: MachineMemory): Known {
  const { config, ...known } = remembered(file);
  if (config === null) return { ...known, memory: null };
  const budget = budgetFor(deviceFor('auto', machine), machine);
  const { lora, full } = memoryNeeds(config, budget, known.weights === 'F32' ? 4 : 2);
  const fits = full <= budget.bytes ? 'full' : lora <= budget.bytes ? 'lora' : 'none';
  return { ...known, memory: { lora, full, fits } };
}

const read = new Map<string, Read>();

/** A file that hasn't changed is read once. */
function remembered(file: FoundFile): Read {
  const key = JSON.stringify([file.path, file.bytes, statSync(file.path, { throwIfNoEntry: false })?.mtimeMs]);
  const known = read.get(key) ?? readFacts(file);
  read.set(key, known);
  return known;
}

function readFacts({ path, kind }: FoundFile): Read {
  try {
    if (kind === 'gguf') {
      const { config, parameters, storedAs, bits } = readGgufFacts(path);
      return { config, architecture: config.modelType, parameters, weights: storedAs, bits, problem: null };
    }
    const { config, parameters, dtypes } = readModelFacts({ base: path, adapter: null, tokenizer: path });
    const weights = dtypes.find((type) => type !== 'F32') ?? dtypes[0] ?? null;
    const bits = config.quantisation?.bits ?? null;
    return { config, architecture: config.modelType, parameters, weights, bits, problem: null };
  } catch (error) {
    // What is in others' folders is theirs: whatever is wrong with it is said of the one, and the rest is listed.
    const why = error instanceof Error ? error.message : String(error);
    const problem = error instanceof BraidError ? why.replace(`${path}: `, '') : `it can't be read (${why})`;
    return { config: null, architecture: null, parameters: null, weights: null, bits: null, problem };
  }
}

function refOf(file: FoundFile, workspace: Places['workspace'], imported: ReadonlySet<string>): string | null {
  if (file.kind === 'folder') return imported.has(file.path) ? `folder:${file.path}` : null;
  const name = nameOfModel(file.name);
  return existsSync(join(workspace.models, name)) ? `workspace:${name}` : null;
}
