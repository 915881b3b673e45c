/** The name in a GGUF file, by which llama.cpp also recognises Phi-3's tokenizer (src/llama-vocab.cpp). */

interface Token {
  readonly content: string;
  readonly rstrip?: boolean | null | undefined;
}

/** llama.cpp keeps the space after these. */
export const SPACED: readonly string[] = ['<unk>', '<s>', '<|endoftext|>'];
/** It doesn't load a file of that name without all of these. */
const NEEDED: readonly string[] = [...SPACED, '</s>'];

/**
 * The name to write. Where it contains "phi-3" or "phi3", llama.cpp drops the space after every special token, so a
 * folder's name would decide that. Here the tokenizer does, by the tokens of `added` with "rstrip".
 */
export function modelName(name: string, vocabulary: readonly string[], added: readonly Token[]): string {
  if (!dropsSpaces(vocabulary, added)) return name.replace(/(phi)-?(?=3)/gi, '$1 ');
  return isPhi3(name) ? name : `${name} (Phi-3)`;
}

/** Whether llama.cpp takes a model of that name for one of Phi-3. */
export function isPhi3(name: string): boolean {
  return /phi-?3/i.test(name);
}

/** Whether the tokenizer drops spaces exactly where llama.cpp does for that name. */
function dropsSpaces(vocabulary: readonly string[], added: readonly Token[]): boolean {
  const others = added.filter(({ content }) => !SPACED.includes(content));
  return (
    NEEDED.every((token) => vocabulary.includes(token)) &&
    others.length > 0 &&
    others.every(({ rstrip }) => rstrip === true) &&
    added.every(({ content, rstrip }) => !SPACED.includes(content) || rstrip !== true)
  );
}
