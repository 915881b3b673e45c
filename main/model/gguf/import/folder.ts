/** A GGUF file as a Hugging Face folder that trains. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../../errors.ts';
import { readModelConfig } from '../../config.ts';
import { byName, jsonText } from '../../export.ts';
import { type FloatType, safetensorsPieces } from '../../safetensors.ts';
import { loadTokenizer, type Tokenizer } from '../../tokenizer.ts';
import { readDifference } from '../read-back.ts';
import { ggufConfig } from './config.ts';
import type { GgufFile } from './open.ts';
import { ggufTokenizer } from './tokenizer.ts';
import { ggufWeights } from './weights.ts';

const DTYPES = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' } as const;

/**
 * Writes all but the weights into a folder, and returns the weights as the pieces of its model.safetensors. What isn't
 * known is refused before the first of them is read.
 */
export function unpackGguf(file: GgufFile, into: string, type: FloatType): Iterable<Uint8Array> {
  const { settings, config } = ggufConfig(file);
  const weights = ggufWeights(file, config);
  const tokenizer = ggufTokenizer(file.metadata, { path: file.path, rows: config.vocabSize });
  const write = (name: string, value: Readonly<Record<string, unknown>>): void =>
    writeFileSync(join(into, name), jsonText(value));
  writeFileSync(join(into, 'tokenizer.json'), JSON.stringify(tokenizer.definition));
  write('tokenizer_config.json', tokenizer.settings);
  if (tokenizer.template !== null) writeFileSync(join(into, 'chat_template.jinja'), tokenizer.template);
  checkTokenizer(file, into);
  const { bos, pad, ends } = tokenizer.ids;
  const loaded = loadTokenizer(into);
  const turn = endOfTurn(loaded);
  const all = [...new Set([...(turn === null ? [] : [turn]), ...ends])];
  // Targets end with the tokenizer's own, and so must what the template makes of an answer.
  if (turn !== null) write('tokenizer_config.json', { ...tokenizer.settings, eos_token: loaded.token(turn) });
  const special = { bos_token_id: bos, eos_token_id: all.length === 1 ? all[0] : all, pad_token_id: pad };
  write('generation_config.json', special);
  write('config.json', { ...settings, ...special, dtype: DTYPES[type] });
  readModelConfig(into);
  return safetensorsPieces(weights.toSorted(byName), { format: 'pt' }, type);
}

/** The folder's tokenizer must cut texts as llama.cpp does by the file. */
function checkTokenizer({ path, metadata }: GgufFile, folder: string): void {
  const differs = readDifference(metadata, folder);
  if (differs === null) return;
  throw inputError(
    'UNSUPPORTED_TOKENIZER',
    `${path}: its tokenizer can't be turned into a tokenizer.json: the file ${differs}`,
    'Use the Hugging Face folder of the same model.',
  );
}

/**
 * The control token that the chat template puts after an answer; null: none, or it has no template. A file often names the
 * end of a document, where its chat template ends a turn with another token.
 */
function endOfTurn(tokenizer: Tokenizer): number | null {
  if (!tokenizer.hasChatTemplate) return null;
  const answer = 'zq';
  const rendered = tokenizer.chat(
    [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: answer },
    ],
    false,
  );
  const at = rendered.lastIndexOf(answer);
  if (at < 0) return null;
  const [first] = tokenizer.controlTokens(rendered.slice(at + answer.length));
  return first === undefined ? null : (tokenizer.tokenId(first) ?? null);
}
