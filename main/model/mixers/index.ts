/** The kinds of mixers. One line a folder. */
import type { ModelConfig } from '../config.ts';
import { layerConfig } from '../layer-sizes.ts';
import { attention } from './attention/mixer.ts';
import { gatedDelta } from './gated-delta/mixer.ts';
import { mamba } from './mamba/mixer.ts';
import type { MixerKind } from './mixer.ts';
import { shortConvolution } from './short-convolution/mixer.ts';

const KINDS = { 'short-convolution': shortConvolution, 'gated-delta': gatedDelta, mamba } as const;

/** What mixes the tokens of a layer. */
export function mixerOf({ recurrent }: Pick<ModelConfig, 'recurrent'>, layer: number): MixerKind {
  return recurrent?.layers.includes(layer) ? KINDS[recurrent.mixer] : attention;
}

/** A number of a layer, by its kind and its own configuration. */
type OfLayer = (kind: MixerKind, own: ModelConfig) => number;

/** The sum over all layers of what a kind says of one. */
export function overLayers(config: ModelConfig, of: OfLayer): number {
  let sum = 0;
  for (let layer = 0; layer < config.numLayers; layer++) sum += of(mixerOf(config, layer), layerConfig(config, layer));
  return sum;
}

/** The largest of what the kinds say of a layer. */
export function ofLargestLayer(config: ModelConfig, of: OfLayer): number {
  let most = 0;
  for (let layer = 0; layer < config.numLayers; layer++)
    most = Math.max(most, of(mixerOf(config, layer), layerConfig(config, layer)));
  return most;
}

/** The layers that attend. */
export function attentionLayers(config: Pick<ModelConfig, 'recurrent' | 'numLayers'>): readonly number[] {
  return Array.from({ length: config.numLayers }, (_, layer) => layer).filter(
    (layer) => mixerOf(config, layer) === attention,
  );
}

/** The layers whose keys and values are kept: those that attend to their own. */
export function keepingLayers(config: ModelConfig): readonly number[] {
  return attentionLayers(config).filter((layer) => layerConfig(config, layer).keysOf === null);
}
