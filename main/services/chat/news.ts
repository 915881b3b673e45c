/** What is streamed of an answer in a chat. */

/** A token and how likely the model found it. */
export interface LikelyToken {
  /** As the vocabulary has it. */
  readonly token: string;
  /** Natural logarithm of its probability, before temperature and filters. */
  readonly logprob: number;
}

export interface ChatToken extends LikelyToken {
  /** What it adds to the answer: nothing where it is only a part of a character, or ends the answer. */
  readonly text: string;
  /** The most likely tokens in its place. */
  readonly top: readonly LikelyToken[];
}

export type ChatNews =
  /** Why nothing comes yet. */
  | { readonly kind: 'waiting'; readonly why: string }
  | { readonly kind: 'tokens'; readonly tokens: readonly ChatToken[] }
  | { readonly kind: 'end'; readonly end: AnswerEnd };

export interface AnswerEnd {
  /** `length`: it was cut off. */
  readonly finish: 'stop' | 'length';
  readonly tokens: number;
  readonly promptTokens: number;
  /** Generation only. */
  readonly seconds: number;
  readonly backend: string;
  /** The model whose system prompt and switches it was given; null: its own, or none. */
  readonly askedAs: string | null;
}
