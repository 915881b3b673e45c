/** A GGUF file as a model of the workspace: converted beside its place, and named when it is whole. */
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { BraidError, errorAbout, inputError } from '../../errors.ts';
import { hiddenSibling, syncFolder, writeError } from '../../io/atomic-write.ts';
import { checkPortableName } from '../../io/foreign-name.ts';
import { makeFolder } from '../../io/make-folder.ts';
import { renameSettledAsync } from '../../io/rename.ts';
import { counted } from '../../text/format.ts';
import { readGgufFacts } from '../../trainer/memory/gguf-facts.ts';
import type { GgufDtype } from '../../trainer/protocol/export-types.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { checkSpace } from './check-space.ts';
import { refuseTaken } from './import.ts';

type Host = Pick<OpenWorkspace, 'workspace' | 'jobs' | 'changes' | 'notices' | 'paths'>;

export interface GgufSource {
  readonly file: string;
  /** Of the model; by default the file's. */
  readonly name?: string | undefined;
  /** By default what loses nothing of the file's weights. */
  readonly dtype?: GgufDtype | undefined;
}

export interface ConvertedGguf {
  readonly folder: string;
  readonly name: string;
  readonly architecture: string;
  readonly parameters: number;
  readonly dtype: GgufDtype;
  /** How the file has most weights: `Q4_K`. */
  readonly stored_as: string;
  /** What that costs; null: nothing. */
  readonly note: string | null;
}

interface Plan extends ConvertedGguf {
  readonly file: string;
  readonly bytes: number;
}

/** Checks a file and its place before anything is written. */
export function planConversion(models: string, { file, name: given, dtype: wanted }: GgufSource): Plan {
  const { config, parameters, storedAs, bits, dtype: lossless } = readGgufFacts(file);
  const name = checkedName(given ?? basename(file).replace(/\.gguf$/i, ''));
  const folder = join(models, name);
  refuseTaken(folder);
  const dtype = wanted ?? lossless;
  const bytes = parameters * (dtype === 'float32' ? 4 : 2);
  makeFolder(models);
  checkSpace(models, bytes, name);
  const note = bits === null ? null : roundedWords(bits, storedAs);
  return { file, folder, name, architecture: config.modelType, parameters, dtype, stored_as: storedAs, note, bytes };
}

/** A folder's name for what another program calls by any characters. */
export function nameOfModel(name: string): string {
  return name
    .replace(/^.*\//, '')
    .replaceAll(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '');
}

function checkedName(name: string): string {
  const plain = nameOfModel(name);
  if (plain !== '') return checkPortableName(plain, 'BAD_MODEL_NAME');
  throw inputError('BAD_MODEL_NAME', `Expected a name for the model, got "${name}"`, 'Give another name.');
}

/** What it means to train from weights of few bits. */
function roundedWords(bits: number, storedAs: string): string {
  return `Its weights were rounded to ${counted(bits, 'bit')} (${storedAs}), and training starts from those: the original model in 16 bits, where you can get it, is the better start.`;
}

/** Converts it; if that fails or is cancelled, nothing is left behind. */
export async function convertGguf(plan: Plan, paths: HostPaths, options: JobOptions = {}): Promise<ConvertedGguf> {
  const { file, bytes, ...converted } = plan;
  const { folder, dtype } = converted;
  const staging = hiddenSibling(folder, 'tmp');
  try {
    makeFolder(staging);
    // Nothing is computed: the smallest backend starts fastest.
    const light = { backend: 'wasm', threads: 1, kernelsFile: paths.kernels } as const;
    await runTrainerJob(
      { kind: 'convert-gguf', file, folder: staging, dtype, bytes, ...light },
      paths.trainer,
      options,
    );
    refuseTaken(folder);
    await renameSettledAsync(staging, folder);
    syncFolder(join(folder, '..'), fs);
    return converted;
  } catch (error) {
    // What is wrong with its tokenizer or template is wrong with the file.
    throw writeError(errorAbout(error, staging, file), folder, 'the converted model');
  } finally {
    await fs.promises.rm(staging, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }
}

/** The same as a job of the app. */
export function startConversion(host: Host, source: GgufSource): { readonly ref: string; readonly jobId: number } {
  const plan = planConversion(host.workspace.models, source);
  const title = `Convert ${plan.name}`;
  if (host.jobs.list().some((job) => job.state === 'running' && job.title === title))
    throw inputError('IMPORT_BUSY', `${plan.name} is already being converted`, 'Wait for it to finish.');
  const { id, result } = host.jobs.start('model-import', title, ({ signal, progress }) =>
    convertGguf(plan, host.paths, { signal, onProgress: progress }).catch((error: unknown) => {
      if (signal.aborted) throw new BraidError('INTERRUPTED', 'Cancelled; no files were kept.');
      throw error;
    }),
  );
  result.then(
    ({ name, note }) => {
      host.changes.publish('models');
      if (note !== null) host.notices.add({ severity: 'info', message: `${name}: ${note}`, remedy: null, runId: null });
    },
    // The list of jobs shows the failure.
    () => undefined,
  );
  return { ref: `workspace:${plan.name}`, jobId: id };
}

/** The GGUF file that a path means: itself, or the only one in a folder without a model; null: neither. */
export function ggufAt(path: string): string | null {
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw inputError('MODEL_MISSING', `${path}: there is no such file or folder`);
  if (!stats.isDirectory()) return path;
  if (fs.existsSync(join(path, 'config.json'))) return null;
  const [only, ...others] = fs.readdirSync(path).filter((name) => /\.gguf$/i.test(name) && !/mmproj/i.test(name));
  return only === undefined || others.length > 0 ? null : join(path, only);
}
