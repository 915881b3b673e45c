/** Tensors in a folder's files that its model has no place for, of which transformers warns when it loads one. */
import type { ModelConfig } from './config.ts';
import { parameterShapes } from './model.ts';
import type { Weights } from './open-weights.ts';
import { HEAD } from './weight-names.ts';

/** What transformers leaves out without a word: tables that are computed, and layers that guess further tokens. */
const SILENT = /rotary_emb\.inv_freq|(^|\.)position_ids$|^mtp\./;

/** Of all names in the files those that a model of this configuration, which reads `used`, leaves out. */
export function unusedTensors(
  names: Iterable<string>,
  used: ReadonlySet<string>,
  { tieWordEmbeddings, textPart, quantisation, sharing }: ModelConfig,
): readonly string[] {
  const modules = new Set(quantisation === null ? [] : [...used].map((name) => name.replace(/\.[^.]*$/, '')));
  const isShared = (name: string): boolean => {
    const layer = /(?:^|\.)layers\.(\d+)\.self_attn\.[kv]_(?:proj|norm)\./.exec(name)?.[1];
    return sharing !== null && layer !== undefined && Number(layer) >= sharing.from;
  };
  // Of a larger model, the other parts are left out by intent.
  const isOfPart = (name: string): boolean => !textPart || /(^|\.)(language_model|lm_head)\./.test(name);
  return [...names].filter(
    (name) =>
      !used.has(name) &&
      !SILENT.test(name) &&
      !(tieWordEmbeddings && name.endsWith(HEAD)) &&
      isOfPart(name) &&
      !isShared(name) &&
      !parents(name).some((parent) => modules.has(parent)),
  );
}

/** `a.b` and `a` of `a.b.c`. */
function parents(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('.'));
}

/** That each weight is there, in its shape and a type that can be read, by the headers alone; gives the others' names. */
export function checkTensors(weights: Weights, config: ModelConfig): readonly string[] {
  for (const [name, shape] of parameterShapes(config)) void weights.source(name, shape).type;
  const { all, used } = weights.names();
  return unusedTensors(all, used, config);
}

/** Such names in a sentence; null: there are none. */
export function unusedWords(unused: readonly string[]): string | null {
  const [first] = unused;
  if (first === undefined) return null;
  const more = unused.length === 1 ? '' : ` and ${unused.length - 1} more`;
  return `Left out, as by transformers: tensors that a model of this config.json doesn't have (${first.slice(0, 100)}${more}).`;
}
