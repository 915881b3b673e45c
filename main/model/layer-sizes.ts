/** Models whose layers differ in their sizes (Gemma 4): what a layer's own settings are. */
import type { ModelConfig } from './config.ts';

/** The configuration as one layer has it. */
export function layerConfig(config: ModelConfig, layer: number): ModelConfig {
  const { wideHeads, sharing } = config;
  const heads = wideHeads === null || config.windowLayers.includes(layer) ? null : wideHeads;
  const shares = sharing !== null && layer >= sharing.from;
  if (heads === null && !shares) return config;
  return {
    ...config,
    ...heads,
    ...(shares && { keysOf: sourceOf(config, layer), intermediateSize: sharing.mlpTimes * config.intermediateSize }),
  };
}

/** Whether later layers attend to this one's keys and values. */
export function isSource(config: ModelConfig, layer: number): boolean {
  const { numLayers, sharing } = config;
  if (sharing === null || layer >= sharing.from) return false;
  const sharers = Array.from({ length: numLayers - sharing.from }, (_, i) => sharing.from + i);
  return sharers.some((sharer) => sourceOf(config, sharer) === layer);
}

/** The layer whose keys and values one of the last layers attends to: the last of its kind before them; -1: none. */
function sourceOf({ windowLayers, sharing }: ModelConfig, layer: number): number {
  const isLocal = windowLayers.includes(layer);
  for (let source = (sharing?.from ?? 0) - 1; source >= 0; source--)
    if (windowLayers.includes(source) === isLocal) return source;
  return -1;
}
