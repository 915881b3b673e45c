/** What config.json says of an encoder, and how its family names the weights. */
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { readSettings } from '../read-json.ts';
import { issuesOf } from '../shown.ts';

/** An encoder's sizes and its family's ways. */
export interface EncoderConfig {
  readonly family: Family;
  /** D. */
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Of the longest text. */
  readonly tokens: number;
  /** Row of the first token's position embedding; null: positions have none. */
  readonly firstPosition: number | null;
  readonly hasTokenTypes: boolean;
  readonly normEpsilon: number;
  /** How attention sees distances between tokens; null: not at all. */
  readonly distances: Distances | null;
}

/** Distances in attention: a bias of each head (MPNet, as in T5), or vectors of their own (DeBERTa). */
export type Distances =
  | { readonly kind: 'bias'; readonly buckets: number }
  | {
      readonly kind: 'vectors';
      /** Distances from -span to span - 1 have a vector. */
      readonly span: number;
      /** Far distances share buckets by their logarithm up to this one; null: each has its own. */
      readonly logarithmicTo: number | null;
      readonly hasNorm: boolean;
      /** Whether tokens' keys and queries make those of the distances, too. */
      readonly sharesKeys: boolean;
      readonly contentToPosition: boolean;
      readonly positionToContent: boolean;
    };

/** The names of a family's weights; those of a layer follow `layer(i)`. */
interface Family {
  /** Before all names of a model that has a head. */
  readonly prefix: string;
  layer(i: number): string;
  readonly names: {
    readonly [part in
      | 'query'
      | 'key'
      | 'value'
      | 'attended'
      | 'attendedNorm'
      | 'wide'
      | 'narrow'
      | 'outputNorm']: string;
  };
  /** The classifier's: the first token's vector goes through one layer, an activation and another layer. */
  readonly head: { readonly first: string; readonly activation: 'tanh' | 'relu' | 'gelu'; readonly last: string };
}

const bertNames = {
  query: 'attention.self.query',
  key: 'attention.self.key',
  value: 'attention.self.value',
  attended: 'attention.output.dense',
  attendedNorm: 'attention.output.LayerNorm',
  wide: 'intermediate.dense',
  narrow: 'output.dense',
  outputNorm: 'output.LayerNorm',
};
const bertLayer = (i: number): string => `encoder.layer.${i}`;
const twoLayers = { first: 'classifier.dense', activation: 'tanh', last: 'classifier.out_proj' } as const;

const families = {
  bert: {
    prefix: 'bert.',
    layer: bertLayer,
    names: bertNames,
    head: { first: 'bert.pooler.dense', activation: 'tanh', last: 'classifier' },
  },
  roberta: { prefix: 'roberta.', layer: bertLayer, names: bertNames, head: twoLayers },
  distilbert: {
    prefix: 'distilbert.',
    layer: (i: number) => `transformer.layer.${i}`,
    names: {
      query: 'attention.q_lin',
      key: 'attention.k_lin',
      value: 'attention.v_lin',
      attended: 'attention.out_lin',
      attendedNorm: 'sa_layer_norm',
      wide: 'ffn.lin1',
      narrow: 'ffn.lin2',
      outputNorm: 'output_layer_norm',
    },
    head: { first: 'pre_classifier', activation: 'relu', last: 'classifier' },
  },
  mpnet: {
    prefix: 'mpnet.',
    layer: bertLayer,
    head: twoLayers,
    names: {
      ...bertNames,
      query: 'attention.attn.q',
      key: 'attention.attn.k',
      value: 'attention.attn.v',
      attended: 'attention.attn.o',
      attendedNorm: 'attention.LayerNorm',
    },
  },
  'deberta-v2': {
    prefix: 'deberta.',
    layer: bertLayer,
    names: {
      ...bertNames,
      query: 'attention.self.query_proj',
      key: 'attention.self.key_proj',
      value: 'attention.self.value_proj',
    },
    head: { first: 'pooler.dense', activation: 'gelu', last: 'classifier' },
  },
} as const satisfies Readonly<Record<string, Family>>;

/** Far beyond any encoder. */
const size = z
  .int()
  .min(1)
  .max(2 ** 20);
const layers = z.int().min(1).max(1000);
const positions = z
  .int()
  .min(2)
  .max(2 ** 24);
const usual = {
  hidden_size: size,
  num_hidden_layers: layers,
  num_attention_heads: size,
  max_position_embeddings: positions,
  layer_norm_eps: z.number().min(0).max(1).default(1e-12),
  hidden_act: z.literal('gelu').default('gelu'),
};
/** Positions begin after the padding token's row. */
const shifted = { ...usual, pad_token_id: z.int().min(0).default(1) };

const schema = z.discriminatedUnion('model_type', [
  z.looseObject({ model_type: z.literal('bert'), ...usual }),
  z.looseObject({ model_type: z.enum(['roberta', 'xlm-roberta']), ...shifted }),
  z.looseObject({ model_type: z.literal('mpnet'), ...shifted, relative_attention_num_buckets: size.default(32) }),
  z.looseObject({
    model_type: z.literal('distilbert'),
    dim: size,
    n_layers: layers,
    n_heads: size,
    max_position_embeddings: positions,
    activation: z.literal('gelu').default('gelu'),
  }),
  z.looseObject({
    model_type: z.literal('deberta-v2'),
    ...usual,
    layer_norm_eps: z.number().min(0).max(1).default(1e-7),
    type_vocab_size: z.int().min(0).default(0),
    position_biased_input: z.boolean().default(true),
    relative_attention: z.boolean().default(false),
    max_relative_positions: z
      .int()
      .max(2 ** 24)
      .default(-1),
    position_buckets: z
      .int()
      .max(2 ** 24)
      .default(-1),
    share_att_key: z.boolean().default(false),
    pos_att_type: z.union([z.string(), z.array(z.string())]).nullish(),
    norm_rel_ebd: z.string().default('none'),
    pooler_hidden_act: z.literal('gelu').default('gelu'),
    // Of DeBERTa v2 xlarge alone.
    conv_kernel_size: z.literal(0).nullish(),
  }),
]);
type DebertaConfig = Extract<z.infer<typeof schema>, { readonly model_type: 'deberta-v2' }>;

/** Reads an encoder's config.json. Throws BAD_ENCODER for one of another architecture. */
export function readEncoderConfig(folder: string): EncoderConfig {
  const file = join(folder, 'config.json');
  const parsed = schema.safeParse(readSettings(file));
  if (parsed.success) return fromConfig(parsed.data);
  throw inputError(
    'BAD_ENCODER',
    `${file}: not a readable encoder (${issuesOf(parsed.error)})`,
    'Give the folder of a BERT, RoBERTa, XLM-RoBERTa, DistilBERT, MPNet or DeBERTa v2/v3 model, such as all-MiniLM-L6-v2.',
  );
}

function fromConfig(config: z.infer<typeof schema>): EncoderConfig {
  if (config.model_type === 'distilbert')
    return {
      family: families.distilbert,
      hiddenSize: config.dim,
      layers: config.n_layers,
      heads: config.n_heads,
      tokens: config.max_position_embeddings,
      firstPosition: 0,
      hasTokenTypes: false,
      normEpsilon: 1e-12,
      distances: null,
    };
  const positions = config.max_position_embeddings;
  const sizes = {
    hiddenSize: config.hidden_size,
    layers: config.num_hidden_layers,
    heads: config.num_attention_heads,
    normEpsilon: config.layer_norm_eps,
    tokens: positions,
    firstPosition: 0,
    hasTokenTypes: true,
  };
  if (config.model_type === 'bert') return { ...sizes, family: families.bert, distances: null };
  if (config.model_type === 'deberta-v2')
    return {
      ...sizes,
      family: families['deberta-v2'],
      distances: distancesOf(config),
      firstPosition: config.position_biased_input ? 0 : null,
      hasTokenTypes: config.type_vocab_size > 0,
    };
  const first = config.pad_token_id + 1;
  const shiftedSizes = { ...sizes, tokens: positions - first, firstPosition: first };
  if (config.model_type !== 'mpnet') return { ...shiftedSizes, family: families.roberta, distances: null };
  const distances = { kind: 'bias', buckets: config.relative_attention_num_buckets } as const;
  return { ...shiftedSizes, family: families.mpnet, hasTokenTypes: false, distances };
}

function distancesOf(config: DebertaConfig): Distances | null {
  if (!config.relative_attention) return null;
  const { position_buckets: buckets, max_position_embeddings: positions } = config;
  const furthest = config.max_relative_positions < 1 ? positions : config.max_relative_positions;
  const kinds = config.pos_att_type ?? [];
  return {
    kind: 'vectors',
    span: buckets > 0 ? buckets : furthest,
    logarithmicTo: buckets > 0 ? furthest : null,
    hasNorm: config.norm_rel_ebd.includes('layer_norm'),
    sharesKeys: config.share_att_key,
    contentToPosition: kinds.includes('c2p'),
    positionToContent: kinds.includes('p2c'),
  };
}
