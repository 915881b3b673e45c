import '@tensorflow/tfjs-backend-cpu';
import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { openClassifier, openEncoder } from '../../main/rewards/reward-model.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { answersTo, outcomesOf, specOf } from './answers.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../parity/fixtures/${name}`, import.meta.url));

function classifierFolder(name: string): string {
  const folder = temporaryFolder();
  cpSync(fixture(`classifiers/${name}`), folder, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join(fixture('bert'), file), join(folder, file));
  return folder;
}

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe('openClassifier', () => {
  it('gives the logit or the probability of a label, of the completion or a template', async () => {
    const folder = classifierFolder('qwen2');
    const open = (more: object) =>
      openClassifier(specOf<'classifier'>({ classifier: folder, label: 'good', ...more }), folder);
    // The third logit of transformers for "one" (tests/parity/classifiers.py).
    expect((await outcomesOf(open({}), 'one'))[0]).toBeCloseTo(3.196656, 4);
    expect((await outcomesOf(open({ label: 0, output: 'probability' }), 'one'))[0]).toBeCloseTo(0.0581, 3);
    expect(await outcomesOf(open({ input: '{completion}' }), 'one')).toEqual(await outcomesOf(open({}), 'one'));
    expect(await outcomesOf(open({ input: '{prompt} {completion}' }), 'one')).not.toEqual(
      await outcomesOf(open({}), 'one'),
    );
  });

  it('asks for one of several labels, and suggests a name', () => {
    const folder = classifierFolder('qwen2');
    expect(() => openClassifier(specOf<'classifier'>({ classifier: folder }), folder)).toThrow(
      'bad (0), fair (1), good (2)',
    );
    expect(() => openClassifier(specOf<'classifier'>({ classifier: folder, label: 'god' }), folder)).toThrow(
      'did you mean "good"?',
    );
    expect(() => openClassifier(specOf<'classifier'>({ classifier: folder, label: 3 }), folder)).toThrow(
      'no label "3"',
    );
  });

  it('needs none where there is one', async () => {
    const folder = classifierFolder('llama');
    const [outcome] = await outcomesOf(openClassifier(specOf<'classifier'>({ classifier: folder }), folder), 'one');
    expect(outcome).toBeCloseTo(0.500035, 4);
  });
});

describe('openEncoder', () => {
  it('gives the cosine to another text', async () => {
    const folder = fixture('bert');
    const encoder = openEncoder(specOf<'encoder'>({ encoder: folder, compare_to: 'The kettle is on.' }), folder);
    const { outcomes } = await encoder.score(answersTo('The kettle is on.', 'one'));
    await encoder.close();
    expect(outcomes[0]).toBeCloseTo(1, 5);
    expect(outcomes[1]).toBeLessThan(0.99);
  });
});
