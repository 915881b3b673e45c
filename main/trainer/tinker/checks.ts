/** Answers of a server, held against what was asked: wrong counts, foreign tokens and NaNs end the run. */

import type { z } from 'zod';
import type { Completion } from '../../samples/completion.ts';
import { badAnswer } from './errors.ts';
import type { passSchema, sampledSchema } from './wire.ts';

export interface SampleAsked {
  readonly samples: number;
  readonly maxTokens: number;
  readonly vocabSize: number;
  readonly eosTokenIds: readonly number[];
}

/** Rounding may take the log-probability of a certain token above 0. */
const ROUNDING = 1e-3;

/** The completions of one prompt. */
export function checkedSamples({ sequences }: z.infer<typeof sampledSchema>, asked: SampleAsked): Completion[] {
  const wrong = (expected: string) => badAnswer('asample', expected);
  if (sequences.length !== asked.samples) throw wrong(`${asked.samples} completions, got ${sequences.length}`);
  return sequences.map(({ tokens, logprobs, stop_reason }) => {
    if (tokens.length < 1 || tokens.length > asked.maxTokens)
      throw wrong(`completions of 1 to ${asked.maxTokens} tokens, got ${tokens.length}`);
    const foreign = tokens.find((id) => !Number.isInteger(id) || id < 0 || id >= asked.vocabSize);
    if (foreign !== undefined) throw wrong(`tokens from 0 to ${asked.vocabSize - 1}, got ${foreign}`);
    const terminated = asked.eosTokenIds.includes(tokens.at(-1) ?? -1);
    if (terminated !== (stop_reason === 'stop'))
      throw wrong(`an end token where a completion stops by itself, got token ${tokens.at(-1)} with "${stop_reason}"`);
    const inner = tokens.slice(0, -1).find((id) => asked.eosTokenIds.includes(id));
    if (inner !== undefined) throw wrong(`no end token before the last token, got ${inner}`);
    if (logprobs == null) return { ids: tokens, terminated };
    return { ids: tokens, terminated, logps: checkedLogps(logprobs, tokens.length, 'asample') };
  });
}

/** The log-probabilities of each sequence's completion, prompts cut off. */
export function checkedPass(
  what: string,
  { loss_fn_outputs: outputs }: z.infer<typeof passSchema>,
  asked: readonly { readonly prompt: number; readonly completion: number }[],
): Float32Array[] {
  if (outputs.length !== asked.length) throw badAnswer(what, `${asked.length} sequences, got ${outputs.length}`);
  return asked.map(({ prompt, completion }, i) => {
    const data = outputs[i]?.logprobs.data ?? [];
    const length = prompt - 1 + completion;
    if (data.length !== length) throw badAnswer(what, `${length} log-probabilities, got ${data.length}`);
    return Float32Array.from(checkedLogps(data.slice(prompt - 1), completion, what));
  });
}

function checkedLogps(values: readonly (number | null)[], count: number, what: string): number[] {
  if (values.length !== count)
    throw badAnswer(what, `${count} log-probabilities for ${count} tokens, got ${values.length}`);
  return values.map((value) => {
    if (value !== null && Number.isFinite(value) && value <= ROUNDING) return value;
    throw badAnswer(what, `log-probabilities of at most 0, got ${value === null ? 'NaN' : value}`);
  });
}
