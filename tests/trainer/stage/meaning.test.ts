import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { parseReplyRecord } from '../../../main/tasks/reply/record.ts';
import { openMeaning } from '../../../main/trainer/stage/meaning.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { openTiny, tinyRun } from '../run/tiny-run.ts';

const encoder = resolve(import.meta.dirname, '../../parity/fixtures/bert');
const folder = temporaryFolderOfFile();
const { model } = await openTiny();

describe('openMeaning', () => {
  it('measures how similar texts are, from 0 to 1, and disposes of its weights', () => {
    const before = tf.memory().numTensors;
    const meaning = openMeaning(encoder);
    expect(meaning.similarity([['the kettle is on', 'The kettle is on']])).toEqual([1]);
    const others = meaning.similarity(
      ['one', 'seven trains', 'unbelievably long'].map((text) => ['the kettle is on', text] as const),
    );
    for (const value of others) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    }
    meaning.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('rejects a folder of another kind of model', () => {
    expect(() => openMeaning(model)).toThrow('not a readable encoder ("model_type"');
    const broken = join(folder, 'broken');
    expect(() => openMeaning(broken)).toThrow('expected this file of a Hugging Face model folder');
    writeFileSync(join(folder, 'config.json'), '{"model_type":"bert"}');
    expect(() => openMeaning(folder)).toThrow('"hidden_size"');
  });
});

describe('a run with a relevance model', () => {
  it('judges relevance by it', async () => {
    const record = parseReplyRecord({
      id: 'r',
      post: 'wa wb',
      prompt: '<a> wa <out>',
      reply: 'wc',
      engagement: { likes: 0, reposts: 0, replies: 0 },
    });
    const run = (relevance_model: string | null) =>
      tinyRun({ model, records: [record], config: { task: 'reply', relevance_model, max_steps: 1 } });
    const [lexical, embedded] = [await run(null), await run(encoder)];
    expect(embedded.steps[0]?.['rewards/relevance/mean']).not.toBe(lexical.steps[0]?.['rewards/relevance/mean']);
    expect(embedded.steps[0]?.['rewards/length/mean']).toBe(lexical.steps[0]?.['rewards/length/mean']);
  });
});
