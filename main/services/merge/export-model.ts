/**
 * Exporting in the app: a model or checkpoint becomes a model of the workspace, with a GGUF file beside it if wanted.
 * A notice says how it answers, as the user has gone elsewhere by then.
 */
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { checkPortableName } from '../../io/foreign-name.ts';
import { counted } from '../../text/format.ts';
import { ggufProblem } from '../../trainer/policy/gguf-problem.ts';
import type { Dtype, GgufChoice } from '../../trainer/protocol/export-types.ts';
import { refuseTaken } from '../models/import.ts';
import { type ModelPlaces, requireModel } from '../models/list.ts';
import { resolveModelParts } from '../models/resolve.ts';
import type { OpenWorkspace } from '../workspace/open-workspace.ts';
import { type MergeResult, mergeModel } from './merge.ts';
import { sourceWords } from './proof-prompts.ts';

export interface ModelExport {
  readonly ref: string;
  /** The new model's name: a folder in the workspace's models. */
  readonly name: string;
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
export function exportModel(host: OpenWorkspace, { ref, name, dtype, gguf }: ModelExport): StartedExport {
  const entry = requireModel(host, ref);
  checkName(name);
  const output = join(host.workspace.models, name);
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
      host.changes.publish('models');
      host.notices.add({ severity: 'info', message: exportWords(name, entry.name, merged), remedy: null, runId: null });
    },
    // The list of jobs shows the failure.
    () => undefined,
  );
  return { ref: `workspace:${name}`, jobId: id };
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
export function exportWords(name: string, of: string, { agreement, compared_on, gguf, dtype }: MergeResult): string {
  const { prompts, equal } = agreement;
  return [
    `${name} (${dtype}), loaded again, answers ${equal} of ${counted(prompts, 'prompt')} as ${of} does.`,
    ...(gguf === null ? [] : [ggufWords(gguf), ...(gguf.note === null ? [] : [gguf.note])]),
    `Compared on ${sourceWords(compared_on, prompts)}.`,
  ].join(' ');
}

function ggufWords(gguf: NonNullable<MergeResult['gguf']>): string {
  if ('unproved' in gguf) return `The GGUF file wasn't checked: ${gguf.unproved}.`;
  const { equal, prompts, same_tokens, missed_ends: missed } = gguf;
  return [
    `llama.cpp answers ${equal} of ${prompts} from the GGUF file, and cuts ${same_tokens} of ${prompts} into the same tokens.`,
    ...(missed.length === 0 ? [] : [missedEndsWords(missed)]),
  ].join(' ');
}

/** For an export after which llama.cpp writes past an answer's end. */
export function missedEndsWords(missed: readonly string[]): string {
  return `llama.cpp doesn't stop at ${missed.join(', ')}, with which this model ends answers: make it a stop string there.`;
}
