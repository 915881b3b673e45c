/** The kinds of mixers. One line a folder. */
import type { ModelConfig } from '../config.ts';
import { attention } from './attention/mixer.ts';
import { gatedDelta } from './gated-delta/mixer.ts';
import type { MixerKind } from './mixer.ts';
import { shortConvolution } from './short-convolution/mixer.ts';

const KINDS = { 'short-convolution': shortConvolution, 'gated-delta': gatedDelta } as const;

/** What mixes the tokens of a layer. */
export function mixerOf({ recurrent }: Pick<ModelConfig, 'recurrent'>, layer: number): MixerKind {
  return recurrent?.layers.includes(layer) ? KINDS[recurrent.mixer] : attention;
}

/** The sum over all layers of what a kind says of one. */
export function overLayers(config: ModelConfig, of: (kind: MixerKind) => number): number {
  let sum = 0;
  for (let layer = 0; layer < config.numLayers; layer++) sum += of(mixerOf(config, layer));
  return sum;
}

/** The largest of what the kinds say of a layer. */
export function ofLargestLayer(config: ModelConfig, of: (kind: MixerKind) => number): number {
  let most = 0;
  for (let layer = 0; layer < config.numLayers; layer++) most = Math.max(most, of(mixerOf(config, layer)));
  return most;
}

/** The layers that attend, whose keys and values are kept. */
export function attentionLayers(config: Pick<ModelConfig, 'recurrent' | 'numLayers'>): readonly number[] {
  return Array.from({ length: config.numLayers }, (_, layer) => layer).filter(
    (layer) => mixerOf(config, layer) === attention,
  );
}
