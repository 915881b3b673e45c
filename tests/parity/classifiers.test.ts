import '@tensorflow/tfjs-backend-cpu';
import { copyFileSync, cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { openSafetensors } from '../../main/model/safetensors.ts';
import { loadSequenceClassifier, probabilities } from '../../main/model/sequence-classifier.ts';
import type { ChatMessage } from '../../main/samples/chat-message.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { largestDifference } from './compare.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

interface Reference {
  readonly texts: readonly (readonly [text: string, logits: readonly number[]])[];
  readonly chat: readonly number[];
}
const decoders = ['llama', 'qwen2'] as const;
const encoders = ['bert', 'roberta', 'mpnet', 'distilbert', 'deberta-v2', 'deberta-v3'] as const;
const made = JSON.parse(readFileSync(fixture('classifiers.json'), 'utf8')) as Readonly<
  Record<(typeof decoders | typeof encoders)[number], Reference>
> & { readonly template: string; readonly conversation: readonly ChatMessage[] };

/** The classifier's folder with the tokenizer that all of them share. */
function folderOf(name: string, template: string | null = null): string {
  const folder = temporaryFolder();
  cpSync(fixture(`classifiers/${name}`), folder, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join(fixture('bert'), file), join(folder, file));
  if (template !== null) writeFileSync(join(folder, 'chat_template.jinja'), template);
  return folder;
}

beforeAll(async () => {
  await tf.setBackend('cpu');
});

describe("loadSequenceClassifier against transformers' ForSequenceClassification", () => {
  it.each([...decoders, ...encoders])('gives the same logits: %s; and leaves no tensor behind', (name) => {
    const before = tf.memory().numTensors;
    const classifier = loadSequenceClassifier(folderOf(name));
    const { texts } = made[name];
    const ours = classifier.classify(texts.map(([text]) => text)).map((row) => row ?? []);
    const theirs = texts.map(([, logits]) => logits);
    expect(largestDifference(ours, theirs)).toBeLessThan(1e-5);
    classifier.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('reads an encoder of several files', () => {
    const folder = folderOf('bert');
    const whole = openSafetensors(join(folder, 'model.safetensors'));
    const weight_map = Object.fromEntries([...whole.entries.keys()].map((name) => [name, 'part.safetensors']));
    whole.close();
    renameSync(join(folder, 'model.safetensors'), join(folder, 'part.safetensors'));
    writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map }));
    const classifier = loadSequenceClassifier(folder);
    const [[text, logits]] = made.bert.texts as readonly [readonly [string, readonly number[]]];
    expect(largestDifference([classifier.classify([text])[0] ?? []], [logits])).toBeLessThan(1e-5);
    classifier.dispose();
  });

  it('reads a conversation through the chat template, not ready for another answer', () => {
    const classifier = loadSequenceClassifier(folderOf('llama', made.template));
    expect(classifier.readsChats).toBe(true);
    expect(largestDifference([classifier.classify([made.conversation])[0] ?? []], [made.llama.chat])).toBeLessThan(
      1e-5,
    );
    classifier.dispose();
  });

  it("reads a conversation through an encoder's chat template", () => {
    const classifier = loadSequenceClassifier(folderOf('bert', '[CLS]{{ messages[0].content }}[SEP]'));
    expect(classifier.readsChats).toBe(true);
    const [[text]] = made.bert.texts as readonly [readonly [string, unknown]];
    expect(classifier.classify([[{ role: 'user', content: text }]])).toEqual(classifier.classify([text]));
    classifier.dispose();
  });

  it('knows the labels, and gives none for a text that is too long', () => {
    const classifier = loadSequenceClassifier(folderOf('qwen2'), 3);
    expect(classifier.labels).toEqual(['bad', 'fair', 'good']);
    expect(classifier.classify(['unbelievably long and unknownish words zzzq'])).toEqual([null]);
    classifier.dispose();
  });

  it('refuses a model without such a head', () => {
    const folder = folderOf('llama');
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as object;
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, architectures: ['LlamaForCausalLM'] }));
    expect(() => loadSequenceClassifier(folder)).toThrow(
      'for sequence classification in "architectures", got LlamaForCausalLM',
    );
  });
});

describe('probabilities', () => {
  it('is a sigmoid of one logit and a softmax over several', () => {
    expect([...probabilities(Float32Array.of(0), false)]).toEqual([0.5]);
    const [a, b] = probabilities(Float32Array.of(Math.log(3), 0), false);
    expect(a).toBeCloseTo(0.75, 6);
    expect(b).toBeCloseTo(0.25, 6);
  });

  it('is a sigmoid of each where several labels may be right', () => {
    const [a, b] = probabilities(Float32Array.of(Math.log(3), 0), true);
    expect(a).toBeCloseTo(0.75, 6);
    expect(b).toBeCloseTo(0.5, 6);
    const folder = folderOf('qwen2');
    const config: object = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({ ...config, problem_type: 'multi_label_classification' }),
    );
    expect(loadSequenceClassifier(folder).isMultiLabel).toBe(true);
  });
});
