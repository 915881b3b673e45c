/**
 * Sequence classification: the logits of a text's labels. A reward model of transformers is a decoder with a `score` head
 * on the last token that isn't padding (`LlamaForSequenceClassification`), or an encoder whose first vector goes through
 * two layers (`BertForSequenceClassification` and its relatives).
 *
 * N tokens of all texts, B texts, D model width, L labels.
 */
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { pulse } from '../pulse.ts';
import type { ChatMessage } from '../samples/chat-message.ts';
import { contextLength, readModelConfig } from './config.ts';
import { forward } from './decoder.ts';
import { loadEncoder } from './encoder/encoder.ts';
import { loadModel } from './load.ts';
import { disposeModel } from './model.ts';
import { openWeights } from './open-weights.ts';
import { packGroups } from './pack.ts';
import { readSettings } from './read-json.ts';
import { packedSequences } from './sequences.ts';
import { issuesOf } from './shown.ts';
import { encodeConversation, loadTokenizer } from './tokenizer.ts';

export interface SequenceClassifier {
  /** Their names, by number. */
  readonly labels: readonly string[];
  /** Whether it judges a conversation; otherwise a text alone. */
  readonly readsChats: boolean;
  /** Whether several labels may be right at once: each has a probability of its own. */
  readonly isMultiLabel: boolean;
  /** The logits of each text's labels, [B][L]; null for a text that is longer than the model's context. */
  classify(texts: readonly ClassifierInput[]): readonly (Float32Array | null)[];
  dispose(): void;
}

/** A text, or a conversation that the model's chat template makes a text of. */
export type ClassifierInput = string | readonly ChatMessage[];

const MOST_LABELS = 100_000;
const headSchema = z.looseObject({
  model_type: z.string(),
  architectures: z.array(z.string()).nullish(),
  num_labels: z.int().min(1).max(MOST_LABELS).optional(),
  id2label: z.record(z.string(), z.string()).nullish(),
  hidden_act: z.string().optional(),
  problem_type: z.string().nullish(),
});
type Head = z.infer<typeof headSchema>;

const SUFFIX = 'ForSequenceClassification';
const ENCODERS = /^(Bert|Roberta|XLMRoberta|DistilBert|MPNet|DebertaV2)ForSequenceClassification$/;
const activations = { tanh: Math.tanh, relu: (x: number) => Math.max(0, x), gelu };

/** Loads a classifier of a Hugging Face folder onto the current backend. `maxLength`: the longest text in tokens. */
export function loadSequenceClassifier(folder: string, maxLength = 4096): SequenceClassifier {
  const file = join(folder, 'config.json');
  const { data: head, error } = headSchema.safeParse(readSettings(file));
  if (head === undefined)
    throw inputError('BAD_CLASSIFIER', `${file}: ${issuesOf(error)}`, 'Choose a model for sequence classification.');
  const [architecture = 'none'] = head.architectures ?? [];
  if (ENCODERS.test(architecture)) return loadEncoderClassifier(folder, head);
  if (architecture.endsWith(SUFFIX)) return loadDecoderClassifier(folder, head, maxLength);
  throw inputError(
    'BAD_CLASSIFIER',
    `${file}: expected a model for sequence classification in "architectures", got ${architecture.slice(0, 80)}`,
    'Choose a reward model such as a LlamaForSequenceClassification or Qwen2ForSequenceClassification, or an encoder such as a BertForSequenceClassification or RobertaForSequenceClassification.',
  );
}

function isMultiLabel({ problem_type }: Head): boolean {
  return problem_type === 'multi_label_classification';
}

/** transformers writes the labels only where they are not two unnamed ones. */
function labelsOf({ num_labels, id2label }: Head, count: number): readonly string[] {
  return Array.from({ length: num_labels ?? count }, (_, i) => id2label?.[String(i)] ?? `LABEL_${i}`);
}

function loadDecoderClassifier(folder: string, head: Head, maxLength: number): SequenceClassifier {
  // It has no head over the vocabulary, so the embedding stands in for it.
  const config = { ...readModelConfig(folder), tieWordEmbeddings: true };
  const longest = Math.min(contextLength(config), maxLength);
  const tokenizer = loadTokenizer(folder);
  const score = readHead(folder, 'score', config.hiddenSize, false);
  const model = loadModel(folder, longest, 'float32', config);
  const labels = labelsOf(head, score.rows);
  const idsOf = (input: ClassifierInput): readonly number[] =>
    typeof input === 'string' ? tokenizer.encode(input, true) : encodeConversation(tokenizer, input);

  const classifyOne = (ids: readonly number[]): Float32Array | null => {
    if (ids.length === 0 || ids.length > longest) return null;
    pulse();
    const last = lastToken(ids, config.padTokenId);
    const hidden = tf.tidy(() => {
      const packed = packGroups([{ promptIds: ids, completions: [] }]);
      const row = (values: Int32Array): tf.Tensor1D => tf.tensor1d(values, 'int32');
      const segments = tf.tensor2d(packed.segments, [packed.segments.length / 4, 4], 'int32');
      const tokens = { ids: row(packed.ids), positions: row(packed.positions) };
      const states = forward(model, tokens, null, packedSequences(config, segments)); // [N, D]
      return tf.slice(states, [last, 0], [1, config.hiddenSize]).dataSync<'float32'>();
    });
    // `forward` divides by Granite's scale of logits, which a classifier hasn't.
    return score.apply(config.logitsScale === 1 ? hidden : hidden.map((value) => value * config.logitsScale));
  };
  return {
    labels,
    readsChats: tokenizer.hasChatTemplate,
    isMultiLabel: isMultiLabel(head),
    classify: (texts) => texts.map((text) => classifyOne(idsOf(text))),
    dispose: () => disposeModel(model),
  };
}

/** As in transformers: the last one that isn't padding, the first if all are. */
function lastToken(ids: readonly number[], padTokenId: number | null): number {
  return padTokenId === null
    ? ids.length - 1
    : Math.max(
        0,
        ids.findLastIndex((id) => id !== padTokenId),
      );
}

function loadEncoderClassifier(folder: string, head: Head): SequenceClassifier {
  const { config, tokenizer, hidden, dispose } = loadEncoder(folder);
  const { first, activation, last } = config.family.head;
  const pooler = readHead(folder, first, config.hiddenSize, true);
  const classifier = readHead(folder, last, config.hiddenSize, true);
  return {
    labels: labelsOf(head, classifier.rows),
    readsChats: tokenizer.hasChatTemplate,
    isMultiLabel: isMultiLabel(head),
    classify: (texts) =>
      hidden(texts.map((text) => (typeof text === 'string' ? text : encodeConversation(tokenizer, text)))).map(
        (states) => {
          const pooled = pooler.apply(states.slice(0, config.hiddenSize)).map(activations[activation]);
          return classifier.apply(pooled);
        },
      ),
    dispose,
  };
}

/** x · Φ(x), with the error function of Abramowitz and Stegun 7.1.26 (within 1.5e-7). */
function gelu(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = Math.sign(x) * (1 - poly * Math.exp(-z * z));
  return 0.5 * x * (1 + erf);
}

interface LinearHead {
  readonly rows: number;
  /** W x + b. [D] → [L] */
  apply(x: Float32Array): Float32Array;
}

/** A small linear layer, computed here: there is one product a text. */
function readHead(folder: string, name: string, width: number, hasBias: boolean): LinearHead {
  const weights = openWeights(folder);
  try {
    const shape = weights.shape(`${name}.weight`);
    const [rows = 0] = shape;
    const weight = weights.source(`${name}.weight`, [rows, width]).read();
    const bias = hasBias ? weights.source(`${name}.bias`, [rows]).read() : new Float32Array(rows);
    return {
      rows,
      apply: (x) =>
        Float32Array.from({ length: rows }, (_, r) => {
          let sum = bias[r] ?? 0;
          for (let d = 0; d < width; d++) sum += (weight[r * width + d] ?? 0) * (x[d] ?? 0);
          return sum;
        }),
    };
  } finally {
    weights.close();
  }
}

/** Probabilities of logits, as transformers' pipeline has them: a sigmoid of each label, or a softmax over several. */
export function probabilities(logits: Float32Array, isMultiLabel: boolean): Float32Array {
  if (isMultiLabel || logits.length === 1) return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
  const largest = logits.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  const powers = logits.map((logit) => Math.exp(logit - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}
