/** What a GGUF file is, from its head: no weights are read, so the host may use this. */
import type { ModelConfig } from '../../model/config.ts';
import { ggufConfig } from '../../model/gguf/import/config.ts';
import { type GgufFile, openGguf } from '../../model/gguf/import/open.ts';
import { checkTokenizerKind } from '../../model/gguf/import/tokenizer.ts';
import { ggufWeights } from '../../model/gguf/import/weights.ts';
import type { GgufDtype } from '../protocol/export-types.ts';
import { weightCount } from './budget.ts';

export interface GgufFacts {
  readonly config: ModelConfig;
  readonly parameters: number;
  /** Of most weights: `Q4_K`. */
  readonly storedAs: string;
  /** Bits that they were rounded to; null: they weren't. */
  readonly bits: number | null;
  /** The type of the weights that loses nothing of them. */
  readonly dtype: GgufDtype;
}

/** Reads a file that can be converted; otherwise an error says what isn't known. */
export function readGgufFacts(path: string): GgufFacts {
  const file = openGguf(path, { lists: false });
  try {
    const { config } = ggufConfig(file);
    ggufWeights(file, config);
    checkTokenizerKind(file.metadata, path);
    return { config, parameters: weightCount(config), ...storage(file) };
  } finally {
    file.close();
  }
}

function storage({ tensors }: GgufFile): Pick<GgufFacts, 'storedAs' | 'bits' | 'dtype'> {
  const numbers = new Map<string, number>();
  const matrices = [...tensors.values()].filter(({ shape }) => shape.length > 1);
  for (const { type, shape } of matrices)
    numbers.set(type.name, (numbers.get(type.name) ?? 0) + shape.reduce((a, b) => a * b, 1));
  const [storedAs = 'F32'] = [...numbers].sort(([, a], [, b]) => b - a)[0] ?? [];
  const bits = matrices.find(({ type }) => type.name === storedAs)?.type.bits ?? null;
  return { storedAs, bits, dtype: matrices.every(({ type }) => type.name === 'BF16') ? 'bfloat16' : 'float32' };
}
