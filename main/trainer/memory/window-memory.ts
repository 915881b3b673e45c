/**
 * What layers with a sliding window hold in addition, in texts that are longer than the window: their attention is in
 * plain ops on every device, so scores of all heads exist, and each row has its own copy of the prompt. Pure.
 */
import type { ModelConfig } from '../../model/config.ts';

const FLOAT = 4;
/** Tensors as large as a segment's scores that exist at a time: in the gradient of a pass, and in a decoding step. */
const PASS_SCORES = 9;
const DECODE_SCORES = 6;

type Shape = Pick<ModelConfig, 'numHeads' | 'window'>;

/** Whether windows limit what tokens see in a text of so many tokens. */
export function exceedsWindow({ window }: Pick<ModelConfig, 'window'>, tokens: number): boolean {
  return window !== null && tokens > window;
}

/** Bytes of scores in a pass over a prompt and completions of at most so many tokens; segments are computed in turn. */
export function windowedPassBytes(config: Shape, promptTokens: number, completionTokens: number): number {
  if (!exceedsWindow(config, promptTokens + completionTokens)) return 0;
  const segment = Math.max(promptTokens ** 2, completionTokens * (promptTokens + completionTokens));
  return FLOAT * PASS_SCORES * config.numHeads * segment;
}

/** The same in a decoding step of so many rows over texts of so many tokens. */
export function windowedDecodeBytes(config: Shape, tokens: number, rows: number): number {
  return exceedsWindow(config, tokens) ? FLOAT * DECODE_SCORES * config.numHeads * tokens * rows : 0;
}
