/** What a task's reward.ts can import. It has no files, network, process, timers or console. */
declare module 'braid' {
  /** What a reward is called with; `Fields` are the record's own. */
  // biome-ignore lint/suspicious/noExplicitAny: the fields are those of task.yaml, which TypeScript doesn't read
  export interface Answer<Fields = Record<string, any>> {
    /** The line of the dataset, with its `id` and the `prompt` that was made of it. */
    readonly record: Fields & { readonly id: string; readonly prompt: string };
    /** The text that the model wrote. */
    readonly completion: string;
    /** Tokens of the completion, with its end token. */
    readonly tokens: number;
    /** `length`: it was cut off at the longest completion length. */
    readonly finish: 'stop' | 'length';
    /** The conversation after the prompt, where the task has an environment. */
    readonly messages?: readonly Message[];
  }

  /**
   * A completion of the same prompt: the second argument of a reward is the list of all of them, the third the place of
   * this one in it. An evaluation has one a prompt.
   */
  export type Completion = Pick<Answer, 'completion' | 'tokens' | 'finish' | 'messages'>;

  /** One message of a conversation. */
  export interface Message {
    /** `user` is also the environment. */
    readonly role: 'system' | 'user' | 'assistant' | 'tool';
    /** Null: the assistant only called tools. */
    readonly content: string | null;
    readonly tool_calls?: readonly ToolCall[];
    /** Of a tool: the call that it answers. */
    readonly tool_call_id?: string;
    readonly name?: string;
  }

  /** A function that the assistant wants to have called. */
  export interface ToolCall {
    readonly id?: string;
    readonly type: 'function';
    readonly function: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
  }

  /** What an environment's `step` is called with, after each turn of the model. */
  // biome-ignore lint/suspicious/noExplicitAny: the fields are those of task.yaml, which TypeScript doesn't read
  export interface Turn<Fields = Record<string, any>, State = any> {
    readonly record: Fields & { readonly id: string; readonly prompt: string };
    /** The conversation from the prompt on; the last message is what the model has just said. */
    readonly messages: readonly Message[];
    /** Which turn of the model, from 1. */
    readonly turn: number;
    /** `length`: the turn was cut off at its longest length. */
    readonly finish: 'stop' | 'length';
    /** What `step` gave as `state` at the turn before; null at the first. */
    readonly state: State | null;
  }

  /** What `step` gives. */
  export interface Step {
    /** What the model reads next; needed unless it is done. */
    readonly message?: string;
    /** A number, or some components by name; the rewards of all turns are added up. */
    readonly reward?: Reward;
    /** Whether the conversation ends here. */
    readonly done: boolean;
    /** Anything that JSON has: given back at the next turn. Variables are forgotten. */
    readonly state?: unknown;
  }

  /** One number, or one for each component that task.yaml lists under `rewards`. */
  export type Reward = number | Record<string, number>;

  /** The words of a text, composed (NFC): what is between white space. */
  export function words(text: string): string[];
  /** How much of a target a completion has word for word, in order, 0 to 1 (Needleman-Wunsch). */
  export function alignment(target: string, completion: string): number;
  /** How many subject words two texts share, 0 to 1 (cosine of their stems). */
  export function similarity(a: string, b: string): number;
  /** How different texts are from each other, 0 to 1. */
  export function diversity(texts: readonly string[]): number;
  /** The share of four-word sequences that a text repeats, 0 to 1. */
  export function repetition(text: string): number;
  /** From -1, negative, to 1, positive (VADER; English). */
  export function sentiment(text: string): number;
  /** The numbers in a text, in order; of an expression or a fraction its parts. */
  export function numbers(text: string): number[];
  /** The last number in a text: `1,234.5`, `2,5`, `3/4`, `10^6`; null: there is none, or it is a date, a time or a range. */
  export function lastNumber(text: string): number | null;
  /** The value of an expression of numbers, + - * / and brackets; null: it is none. */
  export function arithmetic(expression: string): number | null;
  /** The JSON value that a text is, or has in a code block or braces; undefined: none, or nested in more than 200 levels. */
  // biome-ignore lint/suspicious/noExplicitAny: a reward asks for what it expects
  export function json(text: string): any;
  /** What is wrong with a value by a JSON Schema (types, required, properties, items, enum, limits); empty: it fits. */
  export function schemaFaults(value: unknown, schema: object): string[];
  /**
   * Runs a program in a sandbox of its own and evaluates expressions after it: each gives a value, as JSON has it, or an
   * error (NaN and Infinity, which JSON cannot hold). All programs of one call share `time_limit_ms`. Its clock is fixed, and so is the sequence of its Math.random.
   */
  export function runJavaScript(
    program: string,
    expressions: readonly string[],
  ): readonly { readonly value?: unknown; readonly error?: string }[];
}
