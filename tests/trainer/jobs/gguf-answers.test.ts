import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { loadTokenizer, type Tokenizer } from '../../../main/model/tokenizer.ts';
import type { TaskRecord } from '../../../main/tasks/task.ts';
import { type LlamaModel, type LlamaModule, llamaAnswers } from '../../../main/trainer/jobs/gguf-answers.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { tinyRecord, writeTinyModel } from '../../tiny-model.ts';

let folder: string;
let tokenizer: Tokenizer;
const io = { progress: () => Promise.resolve() };
const record = (id: string, offset: number) => tinyRecord(id, 2, offset) as unknown as TaskRecord;

beforeAll(async () => {
  folder = join(temporaryFolderOfFile(), 'model');
  disposeModel(await writeTinyModel(folder));
  const file = join(folder, 'tokenizer_config.json');
  const chat = { chat_template: '<a> {{ messages[0].content }} <b>', bos_token: '<pad>' };
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...chat }));
  tokenizer = loadTokenizer(folder);
});

/** node-llama-cpp, which cuts texts by `tokenize`, answers everything with `answer` and stops at `ends`. */
function llama(
  tokenize: LlamaModel['tokenize'],
  answer: string,
  { adds = false, ends = [1] }: { readonly adds?: boolean; readonly ends?: readonly number[] } = {},
): LlamaModule {
  const sequence = {
    clearHistory: () => Promise.resolve(),
    async *evaluate() {
      yield* [...tokenizer.encode(answer), 1];
    },
  };
  const model: LlamaModel = {
    tokenize,
    isEogToken: (id) => ends.includes(id),
    tokens: { bos: 0, shouldPrependBosToken: adds },
    createContext: () => Promise.resolve({ getSequence: () => sequence }),
  };
  return {
    getLlama: () => Promise.resolve({ loadModel: () => Promise.resolve(model), dispose: () => Promise.resolve() }),
  };
}

describe('llamaAnswers', () => {
  const asked = ['wa wb', 'wc wd'].map((expected, i) => ({ record: record(String(i), i), expected }));
  const job = () => ({ file: 'm.gguf', folder, task: 'interleave', asked });

  it('counts equal answers, and prompts that llama.cpp cuts into the same tokens', async () => {
    const own = llama((text) => tokenizer.encode(text), 'wa wb');
    expect(await llamaAnswers(own, job(), io)).toEqual({ equal: 1, same_tokens: 2, missed_ends: [] });
  });

  it('sees a tokenizer that the answers hide: a token after each control token of the chat template', async () => {
    const spaced = llama((text) => tokenizer.encode(text).flatMap((id) => (id === 3 ? [id, 2] : [id])), 'wa wb');
    expect(await llamaAnswers(spaced, job(), io)).toEqual({ equal: 1, same_tokens: 0, missed_ends: [] });
  });

  it('sees a begin token that llama.cpp adds and Braid does not', async () => {
    const begun = llama((text) => tokenizer.encode(text), 'wa wb', { adds: true });
    expect(await llamaAnswers(begun, job(), io)).toEqual({ equal: 1, same_tokens: 0, missed_ends: [] });
  });

  it('names end tokens at which llama.cpp does not stop', async () => {
    const endless = llama((text) => tokenizer.encode(text), 'wa wb', { ends: [0] });
    expect(await llamaAnswers(endless, job(), io)).toEqual({ equal: 1, same_tokens: 2, missed_ends: ['<eos>'] });
  });

  it('says why a file proves nothing', async () => {
    const broken = llama(() => {
      throw new Error('no vocabulary');
    }, '');
    expect(await llamaAnswers(broken, job(), io)).toEqual({ unproved: "llama.cpp can't use it (no vocabulary)" });
  });
});
