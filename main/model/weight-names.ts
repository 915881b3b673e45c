/** Under which names a file may have a model's tensors, as in transformers 5. */
import { inputError } from '../errors.ts';
import type { Quantisation } from './quantised/settings.ts';

export const EMBEDDING = 'model.embed_tokens.weight';
export const HEAD = 'lm_head.weight';

/** Names of tensors, whatever they stand for. */
type Names = ReadonlyMap<string, unknown>;

export interface WeightsOptions {
  /** The embedding is the head: then a file needs one of them only. */
  readonly tied?: boolean;
  /** The model is a part of the folder's, whose names have another beginning. */
  readonly textPart?: boolean;
  /** How its matrices are quantised; null: they aren't. */
  readonly quantisation?: Quantisation | null;
}

/** What a model's configuration says of them. */
export function weightsOptions(config: {
  readonly tieWordEmbeddings: boolean;
  readonly textPart: boolean;
  readonly quantisation: Quantisation | null;
}): WeightsOptions {
  return { tied: config.tieWordEmbeddings, textPart: config.textPart, quantisation: config.quantisation };
}

/** What files call a tensor whose module transformers calls otherwise (the gates of LFM3's heads). */
export function storedName(name: string): string {
  return name.replace('.self_attn.g_proj.', '.self_attn.gate_proj.');
}

/**
 * The name that a file has for a tensor: its own, without `model.` (a model saved without its head), or with one more; of
 * a larger model's text part with `language_model.`; a tied embedding may be stored as the head. Null: none.
 */
export function nameIn(names: Names, name: string, options: WeightsOptions): string | null {
  const { tied = false, textPart = false } = options;
  const bare = name.startsWith('model.') ? name.slice(6) : null;
  const inner = bare === null ? [] : [`model.language_model.${bare}`, `language_model.${bare}`];
  const larger = textPart ? [`language_model.${name}`, ...inner] : [];
  const other = storedName(name);
  const stored = other === name ? null : nameIn(names, other, options);
  if (stored !== null) return stored;
  const candidates = [name, ...(bare === null ? [] : [bare]), `model.${name}`, ...larger];
  const found = candidates.find((candidate) => names.has(candidate));
  if (found !== undefined) return found;
  return tied && name === EMBEDDING ? nameIn(names, HEAD, { textPart }) : null;
}

/** The error for a tensor that isn't there, with what to do about the names that are. */
export function noTensor(folder: string, names: Names, name: string, shape?: readonly number[]) {
  const which = shape === undefined ? '' : ` of shape [${shape.join(', ')}]`;
  return inputError(
    'TENSOR_MISSING',
    `${folder}: expected a tensor "${name}"${which} by config.json, got none`,
    remedy(names, name),
  );
}

function remedy(names: Names, name: string): string {
  const bare = name.startsWith('model.') ? name.slice(6) : name;
  const foreign = [...names.keys()].find((other) => other.endsWith(`.${bare}`));
  if (foreign !== undefined)
    return `It has "${foreign.slice(0, 200)}", a name that transformers doesn't load for this model either: rename the weights (here to "${name}" and so on), or use the folder of the text model alone.`;
  if (name === HEAD)
    return 'If the model shares its embedding with the head, set "tie_word_embeddings" to true in config.json; otherwise copy or download the whole model folder again.';
  return 'Copy or download the whole model folder again.';
}
