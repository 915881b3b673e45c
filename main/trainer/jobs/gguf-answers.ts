/**
 * Job: llama.cpp, by the npm package node-llama-cpp where somebody has installed it, cuts prompts into tokens and answers
 * them from a GGUF file; both are compared with what Braid does. For the answers it is given our own tokens, so that the
 * two say different things: whether the weights are right, and whether the tokenizer is. They end at our own end tokens,
 * so whether llama.cpp stops there is asked by itself. Braid doesn't depend on that
 * package: it is large and serves this only.
 */

import { largest } from '../../lists.ts';
import { readModelConfig } from '../../model/config.ts';
import { endTokens, loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts';
import { openTask, type TaskSource } from '../../tasks/index.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { encodeRecords, promptText } from '../batching/prompts.ts';
import type { JobIo } from './job-io.ts';

export interface GgufAnswersJob extends BackendChoice {
  readonly kind: 'gguf-answers';
  readonly file: string;
  /** The exported Hugging Face folder: its tokenizer and end tokens. */
  readonly folder: string;
  readonly task: TaskSource;
  /** Records with the checkpoint's answers; where an environment answers back, with its first turn. */
  readonly asked: readonly { readonly record: TaskRecord; readonly expected: string }[];
}

/** How many answers and how many prompts' tokens are as expected, or why nobody knows. */
export type GgufAnswers =
  | {
      readonly equal: number;
      readonly same_tokens: number;
      /** End tokens after which llama.cpp continues. */
      readonly missed_ends: readonly string[];
    }
  | { readonly unproved: string };

/** Of node-llama-cpp, what is used here. */
export interface LlamaModule {
  getLlama(options: { gpu: false; logLevel: 'error' }): Promise<{
    loadModel(options: { modelPath: string }): Promise<LlamaModel>;
    dispose(): Promise<void>;
  }>;
}

export interface LlamaModel {
  /** Adds no begin token by itself. */
  tokenize(text: string, specialTokens: boolean): readonly number[];
  isEogToken(token: number): boolean;
  readonly tokens: { readonly bos: number | null; readonly shouldPrependBosToken: boolean };
  createContext(options: { contextSize: number; threads: number }): Promise<{
    getSequence(): LlamaSequence;
  }>;
}

export interface LlamaSequence {
  evaluate(tokens: readonly number[], options: { temperature: number }): AsyncGenerator<number>;
  clearHistory(): Promise<void>;
}

const PACKAGE = 'node-llama-cpp';
/** Tokens beyond twice the checkpoint's answer (its text may be cut into fewer) after which another is certain. */
const MARGIN = 8;

/** Compares where the package is installed. */
export async function runGgufAnswersJob(job: GgufAnswersJob, io: JobIo): Promise<GgufAnswers> {
  const found = await importLlama();
  if (found === null)
    return { unproved: `node-llama-cpp isn't installed: npm install ${PACKAGE} lets the next export check it` };
  return llamaAnswers(found, job, io);
}

/** Answers greedily, prompt after prompt. */
export async function llamaAnswers(
  { getLlama }: LlamaModule,
  { file, folder, task, asked }: Pick<GgufAnswersJob, 'file' | 'folder' | 'task' | 'asked'>,
  io: Pick<JobIo, 'progress'>,
): Promise<GgufAnswers> {
  const tokenizer = loadTokenizer(folder);
  const ends = endTokens(tokenizer, readModelConfig(folder).eosTokenIds);
  const prompts = promptsOf(asked, { task, tokenizer, folder });
  const llama = await getLlama({ gpu: false, logLevel: 'error' });
  try {
    const model = await llama.loadModel({ modelPath: file });
    const contextSize = largest(prompts.map(({ ids, most }) => ids.length + most)) + 1;
    // Its threads wait for one another by spinning: on a busy machine one is hundreds of times as fast as two.
    const context = await model.createContext({ contextSize, threads: 1 });
    const sequence = context.getSequence();
    let equal = 0;
    let same = 0;
    for (const [done, { text, expected, ids, most }] of prompts.entries()) {
      await io.progress(done, prompts.length, 'prompts');
      if (sameIds(servedIds(model, text), ids)) same++;
      const { ids: got, ended } = await continued(sequence, ids, { most, ends });
      const answer = tokenizer.decode(got);
      // The checkpoint's answer may have been cut off at its limit: this one then only has to begin with it.
      if (answer === expected || (!ended && answer.startsWith(expected))) equal++;
    }
    const missed = ends.filter((id) => !model.isEogToken(id)).map((id) => tokenizer.token(id) ?? `token ${id}`);
    return { equal, same_tokens: same, missed_ends: missed };
  } catch (error) {
    return { unproved: `llama.cpp can't use it (${(error as Error).message})` };
  } finally {
    // With it go its models and contexts.
    await llama.dispose();
  }
}

interface Prompt {
  /** With the chat template, as a server renders it. */
  readonly text: string;
  readonly ids: readonly number[];
  readonly expected: string;
  readonly most: number;
}

/** The prompts as they are evaluated. */
function promptsOf(
  asked: GgufAnswersJob['asked'],
  { task: source, tokenizer, folder }: Pick<GgufAnswersJob, 'task' | 'folder'> & { readonly tokenizer: Tokenizer },
): Prompt[] {
  // Nothing is scored: the task starts no thread.
  const task = openTask(source, '');
  try {
    const records = asked.map(({ record }) => record);
    return encodeRecords(task, tokenizer, records, readModelConfig(folder)).map(({ record, promptIds: ids }, i) => {
      const { expected = '' } = asked[i] ?? {};
      const text = promptText(tokenizer, task, record);
      return { text, ids, expected, most: 2 * tokenizer.encode(expected).length + MARGIN };
    });
  } finally {
    task.close();
  }
}

/** A text as llama.cpp's servers read it: with a begin token, if the file says so and the text doesn't have it. */
function servedIds({ tokenize, tokens: { bos, shouldPrependBosToken: adds } }: LlamaModel, text: string): number[] {
  const ids = [...tokenize(text, true)];
  return adds && bos !== null && ids[0] !== bos ? [bos, ...ids] : ids;
}

function sameIds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

/** The most likely tokens after a prompt, to the end token or the limit. */
async function continued(
  sequence: LlamaSequence,
  prompt: readonly number[],
  { most, ends }: { readonly most: number; readonly ends: readonly number[] },
): Promise<{ readonly ids: readonly number[]; readonly ended: boolean }> {
  await sequence.clearHistory();
  const ids: number[] = [];
  for await (const id of sequence.evaluate(prompt, { temperature: 0 })) {
    if (ends.includes(id)) return { ids, ended: true };
    if (ids.push(id) >= most) break;
  }
  return { ids, ended: false };
}

async function importLlama(): Promise<LlamaModule | null> {
  try {
    // In a variable: the compiler must not look for a package that isn't there.
    const name: string = PACKAGE;
    return (await import(name)) as LlamaModule;
  } catch {
    return null;
  }
}
