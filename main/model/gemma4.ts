/** What config.json says of Gemma 4. */
import { inputError } from '../errors.ts';
import { shown } from './shown.ts';
import type { TraitFields } from './trait-fields.ts';

type Raw = TraitFields & {
  readonly model_type: string;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads?: number | null | undefined;
  readonly head_dim?: number | null | undefined;
  readonly vocab_size: number;
};

/** The names of its text model, whose 12B has other parts for images. */
export const GEMMA_4 = ['gemma4_text', 'gemma4_unified_text'] as const;

export function isGemma4(type: string): boolean {
  return GEMMA_4.some((name) => name === type);
}

/** Heads of layers without a window, where they have others than the rest. */
export interface WideHeads {
  readonly headDim: number;
  readonly numKvHeads: number;
  /** Their keys, before norm and RoPE, are the values too. */
  readonly keysAreValues: boolean;
}

/** The last layers, which attend to the keys and values of an earlier one with the same heads. */
export interface SharingLayers {
  /** The first of them. */
  readonly from: number;
  /** How many times as wide as the others' their MLP is. */
  readonly mlpTimes: number;
}

/** Inputs of each layer besides the stream, from an embedding of their own. */
export interface PerLayerInput {
  readonly width: number;
  readonly vocabSize: number;
}

export interface Gemma4Traits {
  readonly wideHeads: WideHeads;
  readonly sharing: SharingLayers | null;
  readonly perLayerInput: PerLayerInput | null;
  readonly logitsCap: number | null;
}

export function gemma4Traits(raw: Raw, windowLayers: readonly number[], origin: string): Gemma4Traits {
  const { num_hidden_layers: layers, num_kv_shared_layers: shared } = raw;
  if (raw.enable_moe_block) throw unusable(origin, "it is a mixture of experts, which Braid doesn't compute");
  const from = layers - shared;
  const full = Array.from({ length: layers }, (_, layer) => layer).filter((layer) => !windowLayers.includes(layer));
  const isBefore = (layer: number): boolean => layer < from;
  const has = (of: readonly number[]): boolean => of.every(isBefore) || of.some(isBefore);
  if (shared > 0 && !(has(windowLayers) && has(full)))
    throw unusable(
      origin,
      `its last ${shared} layers share keys and values ("num_kv_shared_layers") that no layer has`,
    );
  return {
    wideHeads: wideHeads(raw, full, origin),
    sharing: shared === 0 ? null : { from, mlpTimes: raw.use_double_wide_mlp ? 2 : 1 },
    perLayerInput: perLayerInput(raw, origin),
    logitsCap: raw.final_logit_softcapping ?? null,
  };
}

/** Heads of layers without a window: in files of transformers 5.20 and newer by layer. */
function wideHeads(raw: Raw, full: readonly number[], origin: string): WideHeads {
  const usual = raw.num_key_value_heads ?? raw.num_attention_heads;
  const given = raw.per_layer_config;
  const ownHeads = raw.attention_k_eq_v ? raw.num_global_key_value_heads : null;
  const other = { head_dim: raw.global_head_dim ?? 512, num_key_value_heads: ownHeads };
  const settings = given === null || given === undefined ? other : (given[String(full[0])] ?? {});
  if (given !== null && given !== undefined) {
    const layers = Object.keys(given);
    const strange = layers.find((layer) => JSON.stringify(given[layer]) !== JSON.stringify(settings));
    // Heads that are the same in all layers are in none of its entries.
    const covers =
      layers.length === 0 || (layers.length === full.length && full.every((layer) => String(layer) in given));
    if (strange !== undefined || !covers)
      throw unusable(origin, '"per_layer_config" differs in more than layers with and without a window');
    const unknown = Object.keys(settings).find((key) => key !== 'head_dim' && key !== 'num_key_value_heads');
    if (unknown !== undefined)
      throw unusable(origin, `"per_layer_config" sets ${shown(unknown)}, which Braid doesn't know`);
  }
  const headDim = settings.head_dim ?? raw.head_dim ?? 256;
  const numKvHeads = settings.num_key_value_heads ?? usual;
  if (headDim % 2 !== 0 || raw.num_attention_heads % numKvHeads !== 0)
    throw unusable(
      origin,
      `${raw.num_attention_heads} heads of ${headDim} can't share ${numKvHeads} heads of keys in layers without a window`,
    );
  return { headDim, numKvHeads, keysAreValues: raw.attention_k_eq_v };
}

function perLayerInput(raw: Raw, origin: string): PerLayerInput | null {
  const usual = raw.model_type === 'gemma4_text' ? 256 : 0;
  const width = raw.hidden_size_per_layer_input ?? usual;
  if (width === 0) return null;
  const vocabSize = raw.vocab_size_per_layer_input;
  if (vocabSize < raw.vocab_size)
    throw unusable(origin, `"vocab_size_per_layer_input" (${vocabSize}) is less than "vocab_size" (${raw.vocab_size})`);
  return { width, vocabSize };
}

function unusable(origin: string, what: string) {
  return inputError('BAD_MODEL_CONFIG', `${origin}: ${what}`, 'Choose another model.');
}
