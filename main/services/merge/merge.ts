/** Merging and exporting: any checkpoint as a Hugging Face folder and as GGUF, each compared with the checkpoint. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import type { BackendSetting } from '../../trainer/backend-names.ts';
import type { Dtype, GgufChoice } from '../../trainer/export-types.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { type JobOptions, runTrainerJob } from '../trainer-process/job.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { type Agreement, agreementOf, answersOf } from './agreement.ts';
import { type PromptSource, proofPrompts } from './proof-prompts.ts';

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
}

export interface MergeResult {
  readonly folder: string;
  readonly dtype: Dtype;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  /** How many prompts the folder, loaded again, answers as the checkpoint does. */
  readonly agreement: Agreement;
  /** Where the prompts come from. */
  readonly compared_on: PromptSource;
  /** The same for the GGUF file, by llama.cpp; null without --gguf. */
  readonly gguf: ({ readonly file: string } & (GgufAgreement | { readonly unproved: string })) | null;
}

/** Writes the merged model and says how well it agrees with the checkpoint. */
export async function mergeModel(options: MergeOptions): Promise<MergeResult> {
  const { model, base, paths, dtype = null, gguf = null } = options;
  const folder = resolve(options.output);
  checkOutput(folder);
  const parts = resolveModelParts(model, paths, base);
  const proof = proofPrompts(model, options.dataset, paths);
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
    return { file, ...('equal' in value ? { prompts: asked.length, ...value } : value) };
  };
  return {
    ...{ folder, dtype: files.dtype },
    files: readdirSync(folder).map((name) => ({ name, bytes: statSync(join(folder, name)).size })),
    agreement: agreementOf(answers),
    compared_on: proof.source,
    gguf: files.gguf === null ? null : await checked(files.gguf),
  };
}

/** An export must not replace what somebody keeps there. */
function checkOutput(folder: string): void {
  if (!existsSync(folder)) return;
  if (statSync(folder).isDirectory() && readdirSync(folder).length === 0) return;
  throw inputError(
    'OUTPUT_EXISTS',
    `${folder}: expected a new or empty folder for the merged model, but there is something in it`,
    'Give another folder with --output, or remove this one first.',
  );
}
