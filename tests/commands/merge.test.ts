import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { tinyRecord, writeTinyAdapter, writeTinyModel } from '../tiny-model.ts';
import { braid } from './braid.ts';

const folder = temporaryFolderOfFile();
const place = (name: string): string => join(folder, name);
const merge = (model: string, output: string, ...more: string[]) =>
  braid(['merge', '--model', model, '--output', output, '--backend', 'wasm', '--json', ...more]);

beforeAll(async () => {
  buildKernels();
  const model = await writeTinyModel(place('model'));
  // As a download's cache or a shared folder often has them.
  chmodSync(join(place('model'), 'tokenizer.json'), 0o444);
  writeTinyAdapter(place('adapter'), model, '../model');
  const records = [tinyRecord('one', 2), tinyRecord('two', 2, 5)];
  writeFileSync(place('held-out.jsonl'), records.map((record) => JSON.stringify(record)).join('\n'));
});

describe('braid merge', () => {
  it('writes a model folder in the asked type, and says how many answers agree', async () => {
    const run = await merge(
      place('adapter'),
      place('merged'),
      ...['--dtype', 'bfloat16', '--dataset', place('held-out.jsonl')],
    );
    expect(run.code, run.stderr).toBe(0);
    const value = JSON.parse(run.stdout);
    expect(value).toMatchObject({ folder: place('merged'), dtype: 'bfloat16', agreement: { prompts: 2 }, gguf: null });
    const config = JSON.parse(readFileSync(join(place('merged'), 'config.json'), 'utf8'));
    expect([config.dtype, config.model_type]).toEqual(['bfloat16', 'llama']);
    expect(statSync(join(place('merged'), 'tokenizer.json')).mode & 0o200).toBe(0o200);
  });

  it("keeps the base model's type by default, and then answers the same", async () => {
    const run = await merge(place('adapter'), place('same'), '--dataset', place('held-out.jsonl'));
    expect(JSON.parse(run.stdout)).toMatchObject({ dtype: 'float32', agreement: { prompts: 2, equal: 2 } });
  });

  it('fills an empty folder that exists, which may be a disk of its own', async () => {
    mkdirSync(place('disk'));
    const { ino } = statSync(place('disk'));
    const run = await merge(place('adapter'), place('disk'), '--dataset', place('held-out.jsonl'));
    expect(run.code, run.stderr).toBe(0);
    expect(statSync(place('disk')).ino).toBe(ino);
    expect(readdirSync(place('disk')).sort()).toEqual(readdirSync(place('same')).sort());
  });

  it("compares on held-out prompts of the checkpoint's run, as its task asks them", async () => {
    const replies = ['r1', 'r2'].map((id) => ({
      id,
      post: 'wa wb',
      reply: 'wc',
      engagement: { likes: 1, reposts: 0, replies: 0 },
    }));
    writeFileSync(place('replies.jsonl'), '');
    writeFileSync(place('replies.test.jsonl'), replies.map((record) => JSON.stringify(record)).join('\n'));
    cpSync(place('adapter'), place('run/checkpoint-2'), { recursive: true });
    writeFileSync(place('run/run.yaml'), `task: reply\ndataset: ${place('replies.jsonl')}\n`);
    const run = await merge(place('run/checkpoint-2'), place('reply-merged'), '--base', place('model'));
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({
      agreement: { prompts: 2, equal: 2 },
      compared_on: { task: 'reply', dataset: place('replies.test.jsonl'), records: 2, note: null },
    });
  });

  it('writes GGUF and a Modelfile', async () => {
    // As many tokens as the tokenizer has, and Qwen's end token.
    await writeTinyModel(place('bpe'), { vocabSize: 605, eosTokenIds: [602] });
    cpSync(new URL('../parity/fixtures/tokenizers/qwen2', import.meta.url), place('bpe'), { recursive: true });
    const run = await merge(place('bpe'), place('whole'), ...['--gguf', 'q8_0', '--dataset', place('held-out.jsonl')]);
    expect(run.code, run.stderr).toBe(0);
    const { gguf, agreement, compared_on } = JSON.parse(run.stdout);
    expect(agreement).toEqual({ prompts: 2, equal: 2 });
    expect(compared_on).toMatchObject({ dataset: place('held-out.jsonl') });
    expect(readFileSync(gguf.file).toString('latin1', 0, 4)).toBe('GGUF');
    expect(gguf.note).toMatch(/^This tokenizer composes characters \(Unicode NFC\) and llama\.cpp doesn't/);
    expect(readFileSync(join(place('whole'), 'Modelfile'), 'utf8')).toMatch(
      /^FROM \.\/whole-q8_0\.gguf\n(# .*\n)*TEMPLATE /,
    );
    expect(gguf.read_back).toEqual({ tensors: expect.any(Number), largest_difference: expect.any(Number) });
    expect(gguf.read_back.largest_difference).toBeLessThan(0.01);
    // Only where somebody has installed node-llama-cpp.
    expect(gguf.unproved ?? [gguf.same_tokens, gguf.missed_ends]).toEqual(
      'unproved' in gguf ? expect.stringContaining('node-llama-cpp') : [2, []],
    );
  });

  it('compares a model of no run on pairs of the bundled texts, and refuses it as GGUF before anything is written', async () => {
    const run = await merge('tiny', place('bundled'));
    expect(run.code, run.stderr).toBe(0);
    const { agreement, compared_on } = JSON.parse(run.stdout);
    expect(agreement).toEqual({ prompts: 16, equal: 16 });
    expect(compared_on).toMatchObject({ dataset: null, note: expect.stringContaining("isn't a checkpoint") });
    const refused = await merge('tiny', place('refused'), '--gguf', 'q8_0');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('it is WordPiece')]);
    expect(existsSync(place('refused'))).toBe(false);
  });

  it('replaces nothing, and leaves nothing behind where it fails', async () => {
    writeFileSync(join(place('model'), 'mine.txt'), 'mine');
    const taken = await merge('tiny', place('model'));
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('there is something in it')]);
    const words = await merge(place('model'), place('words'), '--gguf', 'f16');
    expect([words.code, words.stderr]).toEqual([2, expect.stringContaining('a WordLevel model')]);
    expect(existsSync(place('words'))).toBe(false);
  });
});
