/** Rewards by a local model, in the thread of the components outside the sandbox: a classifier or a sentence encoder. */

import { inputError } from '../errors.ts';
import { openTextCosine } from '../model/encoder/text-cosine.ts';
import { type ClassifierInput, loadSequenceClassifier, probabilities } from '../model/sequence-classifier.ts';
import type { Outcome } from '../tasks/external/messages.ts';
import type { ClassifierSpec, EncoderSpec } from '../tasks/external/spec.ts';
import { conversationOf } from '../tasks/folder/environment.ts';
import { fillIn } from '../tasks/folder/template.ts';
import type { Answer } from '../tasks/task.ts';
import { openWasmBackend } from '../tensor/wasm/boot.ts';
import { didYouMean, nearestName } from '../text/nearest-name.ts';
import { type Component, checkedScore, templateValues } from './component.ts';

let backend: Promise<unknown> | null = null;

/** Loads the model onto a wasm backend of this thread, which several models share. */
export async function openRewardModel(
  spec: ClassifierSpec | EncoderSpec,
  folder: string,
  kernelsFile: string,
): Promise<Component> {
  // The trainer waits meanwhile, but its own threads stay: one more is enough.
  backend ??= openWasmBackend({ threads: 1, kernelsFile });
  await backend;
  return spec.kind === 'classifier' ? openClassifier(spec, folder) : openEncoder(spec, folder);
}

/** Opens a classifier on the current backend. */
export function openClassifier(spec: ClassifierSpec, folder: string): Component {
  const classifier = loadSequenceClassifier(folder);
  const label = labelOf(spec, classifier.labels, folder);
  const outcome = (logits: Float32Array | null): Outcome => {
    if (logits === null) return 'the text is empty or longer than the model reads';
    const value = (spec.output === 'logit' ? logits : probabilities(logits, classifier.isMultiLabel))[label];
    return value !== undefined && Number.isFinite(value) ? value : `the model gave ${value} instead of a number`;
  };
  return {
    score: async (answers) => ({
      outcomes: classifier.classify(answers.map((answer) => inputOf(spec, answer, classifier.readsChats))).map(outcome),
      cost: null,
      cached: null,
    }),
    close: async () => classifier.dispose(),
  };
}

/**
 * The template if there is one; otherwise the conversation with its system message and all of its turns, or for models
 * without chats the completion alone.
 */
function inputOf({ input }: ClassifierSpec, answer: Answer, readsChats: boolean): ClassifierInput {
  if (input !== undefined) return fillIn(input, templateValues(answer));
  return readsChats ? conversationOf(answer.record, answer) : answer.completion;
}

function labelOf({ label }: ClassifierSpec, labels: readonly string[], folder: string): number {
  const known = labels.map((name, i) => `${name} (${i})`).join(', ');
  if (label === undefined && labels.length === 1) return 0;
  if (label === undefined)
    throw inputError(
      'BAD_CLASSIFIER',
      `${folder} has the labels ${known}`,
      'Say in task.yaml which "label" is the reward.',
    );
  const index = typeof label === 'number' ? label : labels.indexOf(label);
  if (index >= 0 && index < labels.length) return index;
  const meant = typeof label === 'string' ? didYouMean(nearestName(label, labels)) : '';
  throw inputError('BAD_CLASSIFIER', `${folder} has no label "${label}", but ${known}${meant}`);
}

/** Opens a sentence encoder: the cosine of the completion and another text, -1 to 1. */
export function openEncoder({ compare_to }: EncoderSpec, folder: string): Component {
  const { cosines, dispose } = openTextCosine(folder);
  return {
    score: async (answers) => ({
      outcomes: cosines(
        answers.map((answer) => [fillIn(compare_to, templateValues(answer)), answer.completion] as const),
      ).map(checkedScore),
      cost: null,
      cached: null,
    }),
    close: async () => dispose(),
  };
}
