/** A request's prompt, read alone: its numbers don't depend on what else is read. */
import * as tf from '@tensorflow/tfjs-core';
import { BraidError } from '../../../errors.ts';
import { scoreToken } from '../../../model/chosen-token.ts';
import { logitsOf } from '../../../model/head.ts';
import { readPrompts } from '../../../model/prefill.ts';
import { disposeKept, type Kept } from '../../../model/sequences.ts';
import type { Spelling } from '../../../model/token-bytes.ts';
import { pulse } from '../../../pulse.ts';
import type { Policy } from '../../policy/policy.ts';
import type { AnswerRequest, AnswerToken } from '../../protocol/answers.ts';
import { tokenOf } from './completion.ts';

export interface ReadPrompt {
  readonly kept: Kept;
  /** After its last token [V]. */
  readonly logits: Float32Array;
  /** Its own tokens, where they are asked for. */
  readonly tokens: readonly AnswerToken[] | null;
}

/** Tokens whose logits are computed at a time. */
const SCORED = 64;

export function readPrompt(
  { model, adapter }: Policy,
  prompt: readonly number[],
  { echo = false, logprobs }: Pick<AnswerRequest, 'echo' | 'logprobs'>,
  spelling: (id: number) => Spelling,
): ReadPrompt {
  const tokens: AnswerToken[] = prompt.slice(0, 1).map((id) => ({ id, ...spelling(id), logprob: null, top: [] }));
  const score = (hidden: tf.Tensor2D): void => {
    for (let first = 0; first + 1 < prompt.length; first += SCORED) {
      const next = prompt.slice(first + 1, first + 1 + SCORED);
      const logits = tf.tidy(() =>
        logitsOf(model, tf.slice(hidden, [first, 0], [next.length, -1])).dataSync<'float32'>(),
      );
      const width = logits.length / next.length;
      next.forEach((id, i) => {
        const scored = scoreToken(logits.subarray(i * width, (i + 1) * width), id, logprobs ?? 0);
        tokens.push(tokenOf(logprobs === null ? { ...scored, logprob: Number.NaN } : scored, spelling));
      });
      pulse();
    }
  };
  const { kept, logits: last } = readPrompts(model, adapter, [prompt], pulse, echo ? score : undefined);
  const logits = last.dataSync<'float32'>().slice();
  last.dispose();
  if (logits.every(Number.isFinite)) return { kept, logits, tokens: echo ? tokens : null };
  disposeKept(kept);
  throw new BraidError('NOT_FINITE', "The model's logits are not finite numbers: its weights or activations overflow", {
    remedy: 'Use a checkpoint before this; a run that came here needs a lower learning rate.',
  });
}
