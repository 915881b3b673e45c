/** Which layers see a window only, and which have no RoPE. */
import { isGemma4 } from './gemma4.ts';
import type { TraitFields } from './trait-fields.ts';

type Raw = TraitFields & { readonly model_type: string; readonly num_hidden_layers: number };

/** Numbers from 0 of the layers with a sliding window. */
export function slidingLayers(raw: Raw): number[] {
  const { num_hidden_layers: layers, layer_types: types, model_type: type } = raw;
  const where = (slides: (layer: number) => boolean): number[] => [...Array(layers).keys()].filter(slides);
  // These see everything, whatever their file says.
  if (type === 'llama' || type === 'granite' || type === 'olmo2') return [];
  const qwen = type === 'qwen2' || type === 'qwen3';
  // A window of Qwen counts only with its switch; one of SmolLM3 also where its layers are listed.
  if ((qwen || (type === 'smollm3' && !types)) && raw.use_sliding_window !== true) return [];
  // Gemma 4's last layer sees everything, whatever its file says.
  const most = isGemma4(type) ? layers - 1 : layers;
  if (types && type !== 'phi3' && type !== 'ministral3')
    return where((layer) => layer < most && types[layer] === 'sliding_attention');
  switch (type) {
    case 'mistral':
    case 'phi3':
      return slidingWindow(raw) === null ? [] : where(() => true);
    case 'gemma3_text':
      return where((layer) => (layer + 1) % raw.sliding_window_pattern !== 0);
    case 'gemma4_text':
    case 'gemma4_unified_text':
      return where((layer) => layer < most && (layer + 1) % 6 !== 0);
    case 'olmo3':
      return where((layer) => (layer + 1) % 4 !== 0);
    case 'lfm3':
      return where((layer) => layer % 4 === 0 && layer > 0);
    case 'ministral3':
      return slidingWindow(raw) === null ? [] : where(() => true);
    case 'smollm3':
      return noRopeLayers(raw).slice();
    default:
      return qwen ? where((layer) => layer >= raw.max_window_layers) : [];
  }
}

/** The window's tokens; null: none. Left out, it is what the class has. */
export function slidingWindow({ sliding_window: given, model_type: type }: Raw): number | null {
  if (given !== undefined) return given;
  if (type === 'lfm3') return 256;
  if (isGemma4(type)) return type === 'gemma4_text' ? 512 : 1024;
  return ['phi3', 'smollm3', 'llama', 'ministral3', 'lfm2', 'qwen3_5_text', 'granitemoehybrid'].includes(type)
    ? null
    : 4096;
}

export function noRopeLayers(raw: Raw): number[] {
  if (raw.model_type === 'granitemoehybrid' && raw.position_embedding_type !== 'rope')
    return [...Array(raw.num_hidden_layers).keys()];
  if (raw.model_type !== 'smollm3') return [];
  const every = raw.no_rope_layer_interval;
  const rotated = raw.no_rope_layers;
  return [...Array(raw.num_hidden_layers).keys()].filter((layer) =>
    rotated === null || rotated === undefined ? (layer + 1) % every === 0 : rotated[layer] === 0,
  );
}
