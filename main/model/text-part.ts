/** Folders of models that read images or sound too: their decoder is loaded alone. */
import { isJsonObject } from '../io/json.ts';

type Json = Readonly<Record<string, unknown>>;

const TIED = { tie_word_embeddings: true } as const;

/** The models, and what their decoder's settings may leave out: transformers' defaults. */
const LARGER: Readonly<Record<string, Json>> = {
  mistral3: TIED,
  lfm2_vl: TIED,
  lfm3_vl: { ...TIED, model_type: 'lfm3' },
  qwen3_5: { model_type: 'qwen3_5_text' },
  gemma4: { ...TIED, model_type: 'gemma4_text' },
  gemma4_unified: { ...TIED, model_type: 'gemma4_unified_text' },
  gemma3: {
    ...TIED,
    model_type: 'gemma3_text',
    vocab_size: 262_208,
    hidden_size: 2304,
    intermediate_size: 9216,
    num_hidden_layers: 26,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    max_position_embeddings: 131_072,
    sliding_window: 4096,
  },
};

/** Settings of the whole model that count for its decoder where that has none of its own. */
const SHARED = ['eos_token_id', 'pad_token_id', 'quantization_config', 'quantization'] as const;

/** The config.json of such a model's decoder; null: the model is a decoder itself, or another kind. */
export function textPartOf(value: unknown): Json | null {
  if (!isJsonObject(value)) return null;
  const { model_type: type, text_config: text } = value as Json;
  if (typeof type !== 'string' || !Object.hasOwn(LARGER, type) || !isJsonObject(text)) return null;
  const own = Object.entries(text as Json).filter(([key, each]) => each !== null || !SHARED.includes(key as never));
  const shared = SHARED.flatMap((key) => (Object.hasOwn(value, key) ? [[key, (value as Json)[key]] as const] : []));
  // The head is the whole model's: what its decoder says of it doesn't count.
  const { tie_embedding, tie_word_embeddings = LARGER[type]?.tie_word_embeddings } = value as Json;
  const tied = tie_embedding ?? tie_word_embeddings ?? undefined;
  const head = tied === undefined ? {} : { tie_word_embeddings: tied, tie_embedding: undefined };
  return { ...LARGER[type], ...Object.fromEntries(shared), ...Object.fromEntries(own), ...head };
}
