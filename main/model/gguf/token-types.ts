/** What kind of token each one of a GGUF file is, as llama.cpp (src/llama-vocab.cpp) reads it. */
import { TOKEN } from './metadata.ts';
import type { GgufMetadata } from './read.ts';

/** What llama.cpp takes for control tokens by their names. */
const CONTROL: ReadonlySet<string> = new Set([
  ...['<|eot_id|>', '<|eom_id|>', '<|im_end|>', '<|end|>', '<end_of_turn>', '<|endoftext|>', '<|end_of_text|>'],
  ...['</s>', '<eos>', '<EOT>', '_<EOT>', '[EOT]', '[EOS]', '<end_of_utterance>', '<turn|>', '<|tool_response>'],
  ...['<|fim_prefix|>', '<fim_prefix>', '<fim-prefix>', '<PRE>', '▁<PRE>', '<|code_prefix|>', '<|prefix|>'],
  ...['<|fim_suffix|>', '<fim_suffix>', '<fim-suffix>', '<SUF>', '▁<SUF>', '<|code_suffix|>', '<|suffix|>'],
  ...['<|fim_middle|>', '<fim_middle>', '<fim-middle>', '<MID>', '▁<MID>', '<|code_middle|>', '<|middle|>'],
  ...['<|fim_pad|>', '<fim_pad>', '<fim-pad>', '<PAD>', '[PAD]', '<|file_sep|>'],
  ...['<|fim_repo|>', '<|repo_name|>', '<fim-repo>', '<REPO>', '<reponame>'],
]);

/** Without a list, all are ordinary tokens but those that it knows by their names. Null: the list isn't one of numbers. */
export function tokenTypes(metadata: GgufMetadata, tokens: readonly string[]): readonly number[] | null {
  const given = metadata.get('tokenizer.ggml.token_type');
  if (given === undefined) return tokens.map((token) => (CONTROL.has(token) ? TOKEN.control : TOKEN.normal));
  return Array.isArray(given) && given.every((type) => typeof type === 'number') ? given : null;
}
