/** Merging and exporting: any checkpoint as a Hugging Face folder and as GGUF, each compared with the checkpoint. */
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorAbout, inputError } from '../../errors.ts';
import { hiddenSibling, readHidden, syncFolder, writeError } from '../../io/atomic-write.ts';
import { makeFolder } from '../../io/make-folder.ts';
import { renameSettledAsync } from '../../io/rename.ts';
import type { BackendSetting } from '../../trainer/config/backend-names.ts';
import type { WeightsBack } from '../../trainer/policy/gguf-problem.ts';
import { ggufNote } from '../../trainer/policy/gguf-problem.ts';
import type { ModelParts } from '../../trainer/policy/model-parts.ts';
import type { Dtype, GgufChoice } from '../../trainer/protocol/export-types.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import { sweepLeftovers } from '../workspace/leftovers.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type Agreement, agreementOf, answersOf } from './agreement.ts';
import { type PromptSource, type ProofPrompts, proofPrompts } from './proof-prompts.ts';

export interface MergeOptions extends JobOptions {
  /** A checkpoint, a model folder, or the name of a bundled model. */
  readonly model: string;
  /** The base of a LoRA checkpoint, if its configuration doesn't point to it. */
  readonly base?: string;
  /** A folder that doesn't exist yet, or is empty. */
  readonly output: string;
  /** By default as the base model's weights are stored. */
  readonly dtype?: Dtype;
  readonly gguf?: GgufChoice;
  /** Held-out records (JSONL) whose prompts both answer; by default some of the checkpoint's run. */
  readonly dataset?: string;
  readonly paths: HostPaths;
  readonly backend?: BackendSetting;
  readonly threads?: number;
}

export interface GgufAgreement extends Agreement {
  /** Prompts that llama.cpp cuts into the same tokens. */
  readonly same_tokens: number;
  /** End tokens after which llama.cpp continues. */
  readonly missed_ends: readonly string[];
}

export interface GgufFile {
  readonly file: string;
  /** Texts that llama.cpp may cut into other tokens; null: none are known. */
  readonly note: string | null;
  /** Its weights, read back and compared with the merged model's. */
  readonly read_back: WeightsBack | null;
}

export interface MergeResult {
  readonly folder: string;
  readonly dtype: Dtype;
  /** What it was made from: a checkpoint with its training, or a model as it is. */
  readonly of: 'checkpoint' | 'model';
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** How many prompts the folder, loaded again, answers as the checkpoint does. */
  readonly agreement: Agreement;
  /** Where the prompts come from. */
  readonly compared_on: PromptSource;
  /** The same for the GGUF file, by llama.cpp; null without --gguf. */
  readonly gguf: (GgufFile & (GgufAgreement | { readonly unproved: string })) | null;
}

/**
 * Writes the merged model and says how well it agrees with the checkpoint. It gets its name when it is whole and
 * compared; until then it is in a hidden folder beside its place, which goes if anything fails.
 */
export async function mergeModel(options: MergeOptions): Promise<MergeResult> {
  const { model, base, dataset, paths } = options;
  const output = resolve(options.output);
  checkOutput(output);
  const source = { parts: resolveModelParts(model, paths, base), proof: proofPrompts(model, dataset, paths) };
  // Where an empty folder is linked to, perhaps on another disk.
  const place = fs.existsSync(output) ? fs.realpathSync(output) : output;
  // Inside an empty folder that exists: it may be a disk of its own, or its parent not ours to write to.
  const staging = hiddenSibling(fs.existsSync(place) ? join(place, basename(output)) : place, 'tmp');
  // The GGUF file and the model in it are named after the folder.
  const staged = join(staging, basename(output));
  try {
    await sweepLeftovers(dirname(staging), { name: basename(output) });
    makeFolder(staging);
    const merged = await mergeInto(staged, source, options);
    await putInPlace({ staging, staged, place }, output);
    return { ...merged, folder: output, gguf: merged.gguf && placed(merged.gguf, staged, output) };
  } catch (error) {
    throw writeError(errorAbout(error, staged, output), output, 'the merged model');
  } finally {
    // Files that a scanner still has open are deleted at a later start of the app, or export of this name.
    await fs.promises.rm(staging, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }
}

interface Source {
  readonly parts: ModelParts;
  readonly proof: ProofPrompts;
}

async function mergeInto(folder: string, { parts, proof }: Source, options: MergeOptions): Promise<MergeResult> {
  const { model, base, paths, dtype = null, gguf = null } = options;
  // Nothing is computed: the smallest backend starts fastest.
  const light = { backend: 'wasm', threads: 1, kernelsFile: paths.kernels } as const;
  const told = { ...(options.signal && { signal: options.signal }) };
  const job = { kind: 'merge', model: parts, folder, dtype, gguf, ...light } as const;
  const { value: files } = await runTrainerJob(job, paths.trainer, told);
  const answers = await answersOf(proof, [{ parts: model, base }, { parts: folder }], options);
  const asked = answers.map(({ record, firstTurn }) => ({ record, expected: firstTurn }));
  const checked = async (file: string): Promise<NonNullable<MergeResult['gguf']>> => {
    const check = { kind: 'gguf-answers', file, folder, task: proof.task, asked, ...light } as const;
    const { value } = await runTrainerJob(check, paths.trainer, told);
    return {
      file,
      note: ggufNote(folder),
      read_back: files.readBack,
      ...('equal' in value ? { prompts: asked.length, ...value } : value),
    };
  };
  return {
    folder,
    dtype: files.dtype,
    of: parts.adapter !== null || fs.existsSync(join(parts.base, 'trainer_state.json')) ? 'checkpoint' : 'model',
    files: fs.readdirSync(folder).map((name) => ({ name, bytes: fs.statSync(join(folder, name)).size })),
    agreement: agreementOf(answers),
    compared_on: proof.source,
    gguf: files.gguf === null ? null : await checked(files.gguf),
  };
}

/** An export must not replace what somebody keeps there. */
function checkOutput(folder: string): void {
  if (isFree(folder)) return;
  throw inputError(
    'OUTPUT_EXISTS',
    `${folder}: expected a new or empty folder for the merged model, but there is something in it`,
    'Give another folder, or remove this one first.',
  );
}

/** Whether nothing is there but hidden folders of exports. */
function isFree(folder: string): boolean {
  if (!fs.existsSync(folder)) return true;
  return fs.statSync(folder).isDirectory() && fs.readdirSync(folder).every((entry) => readHidden(entry) !== null);
}

interface Places {
  /** The hidden folder. */
  readonly staging: string;
  /** The model in it. */
  readonly staged: string;
  readonly place: string;
}

/** Another export or a download may have taken the name since the start: what is there stays. */
async function putInPlace({ staging, staged, place }: Places, output: string): Promise<void> {
  if (!isFree(place)) {
    throw inputError(
      'OUTPUT_EXISTS',
      `Something else was put into ${output} while this model was being exported: it is unchanged, and the export was discarded`,
      'Export again under another name.',
    );
  }
  if (dirname(staging) !== place) {
    await renameSettledAsync(staged, place);
    syncFolder(dirname(place), fs);
    return;
  }
  const moved: string[] = [];
  try {
    for (const name of fs.readdirSync(staged)) {
      await renameSettledAsync(join(staged, name), join(place, name));
      moved.push(join(place, name));
    }
  } catch (error) {
    for (const file of moved) fs.rmSync(file, { force: true });
    throw error;
  }
  syncFolder(place, fs);
}

function placed(gguf: NonNullable<MergeResult['gguf']>, staged: string, output: string): typeof gguf {
  const file = join(output, basename(gguf.file));
  if (!('unproved' in gguf)) return { ...gguf, file };
  return { ...gguf, file, unproved: gguf.unproved.replaceAll(staged, output) };
}
