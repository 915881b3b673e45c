/** Llama 3's scaling of RoPE from the divisors of its frequencies, the only part of it in a GGUF file. */
import { ropeFactors } from '../tensors.ts';

/** What all published models have in common. */
const [LOW, HIGH] = [1, 4] as const;
const ORIGINAL_LENGTHS = Array.from({ length: 14 }, (_, n) => 2 ** (n + 4));
/** Of a divisor: the file has them as float32. */
const TOLERANCE = 1e-5;

/** As in config.json; null: it is another scaling. */
export function llama3Scaling(
  divisors: readonly number[],
  ropeTheta: number,
): Readonly<Record<string, unknown>> | null {
  const factor = divisors.at(-1) ?? 1;
  const found = ORIGINAL_LENGTHS.find((originalMaxPositionEmbeddings) => {
    const ropeScaling = {
      type: 'llama3',
      factor,
      lowFreqFactor: LOW,
      highFreqFactor: HIGH,
      originalMaxPositionEmbeddings,
    } as const;
    const expected = ropeFactors({ ropeScaling, ropeTheta, headDim: 2 * divisors.length });
    return expected?.every((divisor, i) => Math.abs((divisors[i] ?? 0) / divisor - 1) < TOLERANCE) ?? false;
  });
  if (found === undefined) return null;
  return {
    rope_type: 'llama3',
    factor,
    low_freq_factor: LOW,
    high_freq_factor: HIGH,
    original_max_position_embeddings: found,
  };
}
