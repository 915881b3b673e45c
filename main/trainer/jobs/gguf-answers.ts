/**
 * Job: llama.cpp, by the npm package node-llama-cpp where somebody has installed it, answers prompts from a GGUF file,
 * and its answers are compared with the checkpoint's. It is given the tokens of our own tokenizer. Braid doesn't depend
 * on that package: it is large and serves this only.
 */
import { readModelConfig } from '../../model/config.ts';
import { encodePrompt, loadTokenizer } from '../../model/tokenizer.ts';
import type { BackendChoice } from '../backend.ts';
import type { JobIo } from './job-io.ts';

export interface GgufAnswersJob extends BackendChoice {
  readonly kind: 'gguf-answers';
  readonly file: string;
  /** The exported Hugging Face folder: its tokenizer and end tokens. */
  readonly folder: string;
  readonly asked: readonly { readonly prompt: string; readonly expected: string }[];
}

/** How many answers are as expected, or why nobody knows. */
export type GgufAnswers = { readonly equal: number } | { readonly unproved: string };

/** Of node-llama-cpp, what is used here. */
interface LlamaModule {
  getLlama(options: { gpu: false; logLevel: 'error' }): Promise<{
    loadModel(options: { modelPath: string }): Promise<LlamaModel>;
    dispose(): Promise<void>;
  }>;
}

interface LlamaModel {
  createContext(options: { contextSize: number; threads: number }): Promise<{
    getSequence(): LlamaSequence;
  }>;
}

interface LlamaSequence {
  evaluate(tokens: readonly number[], options: { temperature: number }): AsyncGenerator<number>;
  clearHistory(): Promise<void>;
}

const PACKAGE = 'node-llama-cpp';
/** Tokens beyond twice the checkpoint's answer (its text may be cut into fewer) after which another is certain. */
const MARGIN = 8;

/** Answers greedily, prompt after prompt. */
export async function runGgufAnswersJob({ file, folder, asked }: GgufAnswersJob, io: JobIo): Promise<GgufAnswers> {
  const found = await importLlama();
  if (found === null)
    return { unproved: `node-llama-cpp isn't installed: npm install ${PACKAGE} lets the next export check it` };
  const tokenizer = loadTokenizer(folder);
  const { eosTokenIds } = readModelConfig(folder);
  const tasks = asked.map(({ prompt, expected }) => ({
    expected,
    ids: encodePrompt(tokenizer, prompt, []),
    most: 2 * tokenizer.encode(expected).length + MARGIN,
  }));
  const llama = await found.getLlama({ gpu: false, logLevel: 'error' });
  try {
    const model = await llama.loadModel({ modelPath: file });
    const contextSize = Math.max(...tasks.map(({ ids, most }) => ids.length + most)) + 1;
    // Its threads wait for one another by spinning: on a busy machine one is hundreds of times as fast as two.
    const context = await model.createContext({ contextSize, threads: 1 });
    const sequence = context.getSequence();
    let equal = 0;
    for (const [done, { expected, ids, most }] of tasks.entries()) {
      await io.progress(done, tasks.length, 'prompts');
      const { ids: got, ended } = await continued(sequence, ids, { most, ends: eosTokenIds });
      const text = tokenizer.decode(got);
      // The checkpoint's answer may have been cut off at its limit: this one then only has to begin with it.
      if (text === expected || (!ended && text.startsWith(expected))) equal++;
    }
    return { equal };
  } catch (error) {
    return { unproved: `llama.cpp can't use it (${(error as Error).message})` };
  } finally {
    // With it go its models and contexts.
    await llama.dispose();
  }
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
