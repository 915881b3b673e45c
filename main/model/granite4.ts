/** What config.json says of Granite 4's dense sizes: attention in all layers, or Mamba-2 in most of them. */
import { inputError } from '../errors.ts';
import type { TraitFields } from './trait-fields.ts';

type Raw = TraitFields & { readonly num_hidden_layers: number; readonly hidden_size: number };

/** Layers that mix by a state space (Mamba-2), after a convolution of `taps` tokens. */
export interface MambaLayers {
  readonly mixer: 'mamba';
  readonly layers: readonly number[];
  readonly taps: number;
  readonly convolutionBias: boolean;
  readonly projectionBias: boolean;
  /** Of heads that share what is written and read. */
  readonly groups: number;
  readonly heads: number;
  readonly headDim: number;
  readonly stateDim: number;
  /** Between which a token's step lies. */
  readonly limits: readonly [number, number];
}

/** Its kinds of layers, in the words of either version of transformers. */
export const MAMBA_LAYERS = ['mamba', 'linear_attention'] as const;

export function granite4Mamba(raw: Raw, origin: string): MambaLayers {
  const { num_local_experts: experts, layer_types: types, mamba_n_heads: heads, mamba_n_groups: groups } = raw;
  if (experts > 0) throw unusable(origin, `it is a mixture of ${experts} experts, which Braid doesn't compute`);
  const isMamba = (layer: number): boolean => MAMBA_LAYERS.some((kind) => kind === (types?.[layer] ?? kind));
  const layers = [...Array(raw.num_hidden_layers).keys()].filter(isMamba);
  const inner = raw.mamba_expand * raw.hidden_size;
  const headDim = typeof raw.mamba_d_head === 'number' ? raw.mamba_d_head : inner / heads;
  if (layers.length > 0 && (headDim * heads !== inner || !Number.isInteger(headDim)))
    throw unusable(
      origin,
      `expected "mamba_n_heads" (${heads}) times "mamba_d_head" (${headDim}) to be "mamba_expand" times "hidden_size" (${inner})`,
    );
  if (layers.length > 0 && heads % groups !== 0)
    throw unusable(origin, `expected "mamba_n_heads" (${heads}) to be a multiple of "mamba_n_groups" (${groups})`);
  return {
    mixer: 'mamba',
    layers,
    taps: raw.mamba_d_conv,
    convolutionBias: raw.mamba_conv_bias,
    projectionBias: raw.mamba_proj_bias,
    groups,
    heads,
    headDim,
    stateDim: raw.mamba_d_state,
    limits: raw.time_step_limit ?? [0, Number.POSITIVE_INFINITY],
  };
}

function unusable(origin: string, what: string) {
  return inputError('BAD_MODEL_CONFIG', `${origin}: ${what}`, 'Choose another model.');
}
