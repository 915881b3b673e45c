/** What is said of a model that another program has. */
import type { FoundModel } from '../../main/api/contract/index.ts';
import { bytes } from '../components/format.ts';

export const SOURCES: Readonly<Record<FoundModel['source'], string>> = {
  ollama: 'Ollama',
  'lm-studio': 'LM Studio',
  'hugging-face': 'Hugging Face cache',
  'llama.cpp': 'llama.cpp',
};

/** `llama · Q4_K, weights of 4 bits, trained from there · LoRA 2.5 GiB, all weights 3.8 GiB`, or why it can't be trained. */
export function foundWords({ architecture, weights, bits, memory, problem }: FoundModel): string {
  if (problem !== null) return `can't be trained: ${problem}`;
  const stored = bits === null ? weights : `${weights}: weights of ${bits} bits, trained from there`;
  return [architecture, stored, memory === null ? null : memoryWords(memory)]
    .filter((part) => part !== null)
    .join(' · ');
}

function memoryWords({ lora, full, fits }: NonNullable<FoundModel['memory']>): string {
  const needs = `LoRA takes ${bytes(lora)}, all weights ${bytes(full)}`;
  if (fits === 'full') return needs;
  return fits === 'lora' ? `${needs}: only LoRA fits now` : `${needs}: too large for what is free now`;
}
