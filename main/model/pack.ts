/**
 * Packing for the decoder: sequences are concatenated without padding, and completions of one prompt share its tokens.
 * A completion's last token predicts nothing, so it is left out.
 */
import { inputError } from '../errors.ts';

/** Completions that follow one prompt. */
export interface PromptGroup {
  readonly promptIds: readonly number[];
  readonly completions: readonly (readonly number[])[];
  /** Which tokens of each completion are predicted; absent: all. The others are read only. */
  readonly predicted?: readonly (readonly boolean[])[];
}

/** How many tokens of each completion are predicted. */
export function predictedLengths({ completions, predicted }: PromptGroup): number[] {
  return completions.map(({ length }, i) => predicted?.[i]?.filter(Boolean).length ?? length);
}

/** A packed batch as plain arrays: N tokens, S segments, T completion tokens in the order of the groups. */
export interface PackedBatch {
  /** [N] token ids. */
  readonly ids: Int32Array;
  /** [N] each token's position in its own sequence. */
  readonly positions: Int32Array;
  /** [S * 4] as `packedAttention` takes them. */
  readonly segments: Int32Array;
  /** [T] the packed token whose hidden state predicts each completion token. */
  readonly predictors: Int32Array;
  /** [T] the completion tokens. */
  readonly targets: Int32Array;
}

/** How many tokens a group takes in a packed batch. */
export function packedLength({ promptIds, completions }: PromptGroup): number {
  return completions.reduce((sum, { length }) => sum + Math.max(length - 1, 0), promptIds.length);
}

/** Packs groups. A prompt needs at least one token: its last one predicts the completion's first. */
export function packGroups(groups: readonly PromptGroup[]): PackedBatch {
  const tokens = groups.reduce((sum, group) => sum + packedLength(group), 0);
  const count = groups.flatMap(predictedLengths).reduce((sum, length) => sum + length, 0);
  const [ids, positions] = [new Int32Array(tokens), new Int32Array(tokens)];
  const [predictors, targets] = [new Int32Array(count), new Int32Array(count)];
  const segments: number[] = [];
  let at = 0;
  let done = 0;
  const place = (sequence: readonly number[], firstPosition: number): void => {
    ids.set(sequence, at);
    for (let i = 0; i < sequence.length; i++) positions[at + i] = firstPosition + i;
    at += sequence.length;
  };
  for (const { promptIds, completions, predicted } of groups) {
    if (promptIds.length === 0) throw inputError('EMPTY_PROMPT', 'Expected a prompt of at least one token, got none');
    const prompt = at;
    segments.push(prompt, promptIds.length, 0, 0);
    place(promptIds, 0);
    for (const [row, completion] of completions.entries()) {
      const start = at;
      if (completion.length > 1) segments.push(start, completion.length - 1, prompt, promptIds.length);
      place(completion.slice(0, -1), promptIds.length);
      completion.forEach((id, i) => {
        if (predicted?.[row]?.[i] === false) return;
        targets[done] = id;
        predictors[done] = i === 0 ? prompt + promptIds.length - 1 : start + i - 1;
        done++;
      });
    }
  }
  return { ids, positions, segments: Int32Array.from(segments), predictors, targets };
}
