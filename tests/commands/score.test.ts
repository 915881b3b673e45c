import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Model } from '../../main/model/model.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { braid } from './braid.ts';

const folder = temporaryFolderOfFile();
const modelFolder = join(folder, 'model');
let model: Model;
beforeAll(async () => {
  buildKernels();
  model = await writeTinyModel(modelFolder);
});

function score(lines: readonly string[], ...more: string[]) {
  const file = join(folder, 'lines.jsonl');
  writeFileSync(file, lines.join('\n'));
  return braid(['score', '--model', modelFolder, '--dataset', file, ...more]);
}

describe('braid score', () => {
  it('returns the log-probability of every token, from texts and from ids', async () => {
    const texts = { id: 'texts', prompt: '<a> wa wb', completion: 'wc wd' };
    const ids = { id: 7, prompt_ids: [3, 6, 7], completion_ids: [8, 9, 1] };
    const run = await score([JSON.stringify(texts), '', JSON.stringify(ids)], '--json');
    expect(run.code, run.stderr).toBe(0);
    const { items } = JSON.parse(run.stdout);
    expect(items.map((item: { id: string }) => item.id)).toEqual(['texts', '7']);
    expect(items[0].token_ids).toEqual([8, 9]);
    const [expected] = scoreCompletions(model, null, [{ promptIds: [3, 6, 7], completionIds: [8, 9, 1] }]);
    items[1].logprobs.forEach((value: number, i: number) => {
      expect(value).toBeCloseTo(expected?.[i] ?? Number.NaN, 5);
    });
    items[0].logprobs.forEach((value: number, i: number) => {
      expect(value).toBeCloseTo(expected?.[i] ?? Number.NaN, 5);
    });
  });

  it('scores the last turn of a conversation to its end, without a chat template as plain lines', async () => {
    const [asked, said] = [
      { role: 'user', content: 'wa wb' },
      { role: 'assistant', content: 'wc wd' },
    ];
    const forms = [{ messages: [asked, said] }, { prompt: [asked], completion: [said] }];
    const run = await score(
      forms.map((form, i) => JSON.stringify({ id: i, ...form })),
      '--json',
    );
    expect(run.code, run.stderr).toBe(0);
    const { items } = JSON.parse(run.stdout);
    const tokenizer = loadTokenizer(modelFolder);
    const [promptIds, completionIds] = [tokenizer.encode('wa wb', true), [8, 9, tokenizer.eosTokenId ?? -1]];
    const [expected] = scoreCompletions(model, null, [{ promptIds, completionIds }]);
    for (const item of items) {
      expect(item.token_ids).toEqual(completionIds);
      for (const [i, value] of item.logprobs.entries()) expect(value).toBeCloseTo(expected?.[i] ?? Number.NaN, 5);
    }
  });

  it('prints a table without --json', async () => {
    const run = await score(['{"id":"x","prompt":"wa","completion":"wb"}']);
    expect(run.stdout).toMatch(/^id\s+tokens\s+log-probability\s+perplexity\nx\s+1/);
  });

  it('names every bad line, before and after the model is known', async () => {
    const shape = await score([
      '{"id":"x"',
      '[1]',
      '{"id":"y","prompt":1,"completion":""}',
      '{"id":"z","prompt_ids":[]}',
      '{"id":"a","messages":[{"role":"user","content":"wa"}]}',
      '{"id":"b","messages":[{"role":"usr","content":"wa"}]}',
    ]);
    expect(shape.code).toBe(2);
    expect(shape.stderr).toContain('line 1: not JSON');
    expect(shape.stderr).toContain('line 2: expected an object');
    expect(shape.stderr).toContain('line 3: expected "prompt" to be a string');
    expect(shape.stderr).toContain('line 4: expected "prompt_ids" to be at least one token id');
    expect(shape.stderr).toContain('line 5: expected the conversation to end with a turn of the assistant');
    expect(shape.stderr).toContain('line 6: expected "messages[0].role" to be system, user, assistant or tool');
    const ids = await score([
      '{"id":"x","prompt_ids":[1],"completion_ids":[99]}',
      '{"id":"y","prompt":"","completion":"wa"}',
    ]);
    expect(ids.code).toBe(2);
    expect(ids.stderr).toContain('line 1: expected token ids from 0 to 31, got 99');
    expect(ids.stderr).toContain('line 2: expected a prompt of at least one token');
  });
});
