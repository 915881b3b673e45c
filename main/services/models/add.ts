/** Adding a model that lies on this machine: a GGUF file is converted, a Hugging Face folder used in place or copied. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import { readModelFacts } from '../../trainer/memory/model-facts.ts';
import { checkSound } from '../../trainer/memory/model-folder.ts';
import type { GgufDtype } from '../../trainer/protocol/export-types.ts';
import type { JobOptions } from '../trainer-process/job.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { type ConvertedGguf, convertGguf, ggufAt, planConversion, startConversion } from './convert-gguf.ts';
import { findFound, requireFound } from './found.ts';
import { copyFolder, type ImportedFolder, importModel, nameOfCopy } from './import.ts';
import { rememberImported } from './imported-folders.ts';

export interface AddRequest {
  readonly path: string;
  readonly name?: string | undefined;
  readonly dtype?: GgufDtype | undefined;
}

/** What was added; of a folder, `dtype` is how it is stored. */
export type AddedModel = Omit<ConvertedGguf, 'dtype'> & { readonly dtype: string };

type Host = Pick<OpenWorkspace, 'store' | 'workspace' | 'paths'>;

/** Adds it and waits until it is usable. A folder is used in place, unless it gets a name: then it is copied. */
export async function addModel(host: Host, request: AddRequest, options: JobOptions = {}): Promise<AddedModel> {
  const { path, name } = await located(request);
  const { dtype } = request;
  const file = ggufAt(path);
  const models = host.workspace.models;
  if (file !== null) return convertGguf(planConversion(models, { file, name, dtype }), host.paths, options);
  if (dtype !== undefined)
    throw inputError('BAD_OPTION', 'Expected --dtype with a GGUF file only', 'A folder keeps its type: leave it out.');
  const { config, parameters, dtypes, ...facts } = readModelFacts({ base: path, adapter: null, tokenizer: path });
  const notes = [facts.quantised, facts.unused].filter((one) => one !== undefined);
  const note = notes.length === 0 ? null : notes.join('\n');
  const types: Readonly<Record<string, string>> = { BF16: 'bfloat16', F16: 'float16', F32: 'float32' };
  const stored_as = dtypes.find((type) => type !== 'F32') ?? 'F32';
  const added = { architecture: config.modelType, parameters, stored_as, dtype: types[stored_as] ?? stored_as };
  const signal = options.signal ?? new AbortController().signal;
  if (name !== undefined) {
    const folder = join(models, nameOfCopy(models, name));
    await copyFolder(path, folder, { signal, progress: options.onProgress ?? (() => undefined) });
    return { folder, name, ...added, note };
  }
  await checkSound(path, signal);
  const folder = host.store.transaction(() => rememberImported(host.store, path));
  return { folder, name: basename(folder), ...added, note };
}

/** A path; or the name of a model of another program, which is also a better one for it than that of its file. */
async function located({ path: given, name }: AddRequest): Promise<Pick<AddRequest, 'path' | 'name'>> {
  const path = resolve(given);
  if (existsSync(path) && (name !== undefined || !basename(path).startsWith('sha256-'))) return { path, name };
  const found = await findFound((file) => file.name === given || file.path === path);
  return { path: found?.path ?? path, name: name ?? (found?.kind === 'gguf' ? found.name : undefined) };
}

/** The same in the app, where it is a job. */
export function startAdding(host: OpenWorkspace, path: string, copy: boolean, name?: string): ImportedFolder {
  const file = ggufAt(path);
  return file === null ? importModel(host, path, copy) : startConversion(host, { file, name });
}

/** A model of the list of those found. */
export async function startAddingFound(host: OpenWorkspace, path: string): Promise<ImportedFolder> {
  const { name } = await requireFound(path);
  return startAdding(host, path, false, name);
}
