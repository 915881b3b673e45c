/**
 * Exporting in the app: a model or checkpoint becomes a model of the workspace, with a GGUF file beside it if wanted.
 * A notice says how it answers, as the user has gone elsewhere by then.
 */
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { checkPortableName } from '../../io/foreign-name.ts';
import { counted } from '../../text/format.ts';
import type { WeightsBack } from '../../trainer/policy/gguf-problem.ts';
import { ggufProblem } from '../../trainer/policy/gguf-problem.ts';
import type { Dtype, GgufChoice } from '../../trainer/protocol/export-types.ts';
import { refuseTaken } from '../models/import.ts';
import { rememberImported } from '../models/imported-folders.ts';
import { type ModelPlaces, requireModel } from '../models/list.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { whatIsAt } from '../workspace/host-folders.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { type MergeResult, mergeModel } from './merge.ts';
import { sourceWords } from './proof-prompts.ts';

export interface ModelExport {
  readonly ref: string;
  /** The new model's name, and its folder's. */
  readonly name: string;
  /** The folder to write that one to, outside the workspace; null: the workspace's models. */
  readonly into?: string | null;
  /** null: as the base model's weights are stored. */
  readonly dtype: Dtype | null;
  readonly gguf: GgufChoice | null;
}

export interface StartedExport {
  /** The new model's reference, valid when the job is done. */
  readonly ref: string;
  readonly jobId: number;
}

/** Starts the export. Throws if the model can't be used, or if the name can't be a folder's or is taken. */
export function exportModel(host: OpenWorkspace, { ref, name, into = null, dtype, gguf }: ModelExport): StartedExport {
  const entry = requireModel(host, ref);
  checkName(name);
  if (into !== null && !whatIsAt(into).isDirectory())
    throw inputError('FOLDER_MISSING', `${into} is a file`, 'Choose a folder.');
  const isElsewhere = into !== null && into !== host.workspace.models;
  const output = join(into ?? host.workspace.models, name);
  refuseTaken(output);
  const title = `Export ${name}`;
  if (host.jobs.list().some((job) => job.state === 'running' && job.title === title))
    throw inputError('EXPORT_BUSY', `A model is already being exported as ${name}`, 'Choose another name.');
  const { id, result } = host.jobs.start('model-export', title, ({ signal, progress }) =>
    mergeModel({
      model: entry.model,
      output,
      paths: host.paths,
      signal,
      onProgress: progress,
      ...(dtype !== null && { dtype }),
      ...(gguf !== null && { gguf }),
    }),
  );
  result.then(
    (merged) => {
      if (isElsewhere) host.store.transaction(() => rememberImported(host.store, output));
      host.changes.publish('models');
      host.notices.add({ severity: 'info', message: exportWords(name, entry.name, merged), remedy: null, runId: null });
    },
    // The list of jobs shows the failure.
    () => undefined,
  );
  return { ref: isElsewhere ? `folder:${output}` : `workspace:${name}`, jobId: id };
}

/** Why llama.cpp can't use a model or checkpoint; null: it can be exported as GGUF. */
export function ggufProblemOf(places: ModelPlaces, ref: string): string | null {
  return ggufProblem(resolveModelParts(requireModel(places, ref).model, places.paths));
}

function checkName(name: string): void {
  if (/^[\w][\w.-]*$/.test(name)) return void checkPortableName(name, 'BAD_MODEL_NAME');
  throw inputError(
    'BAD_MODEL_NAME',
    `Expected a name of letters, digits, dots, dashes and underscores, got "${name}"`,
    'It becomes the name of a folder.',
  );
}

/** What the comparison found. */
export function exportWords(name: string, of: string, result: MergeResult): string {
  const { agreement, compared_on, gguf, dtype } = result;
  const { prompts, equal } = agreement;
  const rounding = roundingWords(result);
  return [
    `${name} (${dtype}), loaded again, answers ${equal} of ${counted(prompts, 'prompt')} as ${of} does.`,
    ...(rounding === null ? [] : [rounding]),
    ...(gguf === null ? [] : [ggufWords(gguf), ...(gguf.note === null ? [] : [gguf.note])]),
    `Compared on ${sourceWords(compared_on, prompts)}.`,
  ].join(' ');
}

function ggufWords(gguf: NonNullable<MergeResult['gguf']>): string {
  const readBack = gguf.read_back === null ? [] : [readBackWords(gguf.read_back)];
  if ('unproved' in gguf) return [...readBack, `llama.cpp has not answered from it: ${gguf.unproved}.`].join(' ');
  const { equal, prompts, same_tokens, missed_ends: missed } = gguf;
  return [
    ...readBack,
    `llama.cpp answers ${equal} of ${prompts} from the GGUF file, and cuts ${same_tokens} of ${prompts} into the same tokens.`,
    ...(missed.length === 0 ? [] : [missedEndsWords(missed)]),
  ].join(' ');
}

/** What weights of 16 bits change, where the export doesn't answer alike; null: nothing to say. */
export function roundingWords({ agreement: { prompts, equal }, dtype, of }: MergeResult): string | null {
  if (equal === prompts || dtype === 'float32') return null;
  const bits = dtype === 'bfloat16' ? 8 : 11;
  const lost = of === 'checkpoint' ? 'what training changed is partly rounded away' : 'its weights are rounded';
  return `In ${dtype}, with ${bits} significant bits, ${lost}: where two tokens are nearly as likely, the other one may come. --dtype float32 keeps it, in twice the size.`;
}

/** What reading the GGUF file back has found. */
export function readBackWords({ tensors, largest_difference: most }: WeightsBack): string {
  const apart = most === 0 ? 'exactly' : `to the precision of its type (largest difference ${most.toPrecision(2)})`;
  return `Read back, all ${counted(tensors, 'tensor')} of the GGUF file are the merged model's, ${apart}.`;
}

/** For an export after which llama.cpp writes past an answer's end. */
export function missedEndsWords(missed: readonly string[]): string {
  return `llama.cpp doesn't stop at ${missed.join(', ')}, with which this model ends answers: make it a stop string there.`;
}
