/** What a GGUF file says, read back: it must cut texts into the tokens that the model was trained on. */
import { shown } from '../shown.ts';
import { loadTokenizer, type Tokenizer } from '../tokenizer.ts';
import { type GgufValue, ggufPieces } from './file.ts';
import { unsupportedTokenizer } from './metadata.ts';
import { type GgufMetadata, readGgufMetadata } from './read.ts';
import { servedTokenizer } from './served-tokenizer.ts';

/** Texts of many kinds; composed characters only, as `ggufNote` says what happens to others. */
const SAMPLES: readonly string[] = [
  'Hello, world! It\'s a test; "quoted" – isn\'t it? (Yes.)',
  'two  spaces   three    four     five, and a tab\tor\t\ttwo',
  '  leading and trailing  ',
  'first line\nsecond line\n\n\n\tindented\r\nfourth\n  fifth\n',
  '0 7 42 123 1234 12345 3.14159 1,000,000 50% x2 2x 0xFF 1/2 ½ ² Ⅳ',
  'def add(a, b):\n    """Sum."""\n    return a + b  # {x: [1]}\n\nif (a != b) { a += 1; }',
  "I'll we're YOU'VE don't DON'T rock'n'roll 'tis snake_case camelCase HTTPServer <b>&amp;</b>",
  'naïve café Ärger über Straße ǅ ŒUVRE',
  'Привет, мир! Ελληνικά עברית العربية हिन्दी ไทย 日本語 한국어 中文 𝔘𝔫𝔦',
  'e-mail@example.com https://example.com/a?b=c#d ~/path/to.file $5 €7 ^ ` | \\ / *',
  'emoji 👋🏽 👩‍👩‍👧 ✈️ 🇪🇺 and \u00a0 no-break \u200b zero width \ufeff mark',
  '\u0000\u0001\u007f\u0085\u2028 control',
];
/** How many tokens of the vocabulary are tried besides, and how many make up a text. */
const TOKENS = 512;
const TOKENS_A_TEXT = 8;

/** Refuses metadata whose tokenizer, as llama.cpp reads it, isn't that of the folder. */
export function checkReadBack(metadata: Readonly<Record<string, GgufValue>>, tokenizerFolder: string): void {
  const differs = readDifference(readGgufMetadata(Buffer.concat([...ggufPieces(metadata, [])])), tokenizerFolder);
  if (differs === null) return;
  throw unsupportedTokenizer(tokenizerFolder, `read back, the file ${differs}`);
}

/** What a file has, by its metadata, where a folder's tokenizer has something else; null: both cut the samples alike. */
export function readDifference(metadata: GgufMetadata, tokenizerFolder: string): string | null {
  const served = servedTokenizer(metadata);
  const tokenizer = loadTokenizer(tokenizerFolder);
  for (const sample of [...SAMPLES, ...vocabularySamples(tokenizer)]) {
    const text = tokenizer.hasChatTemplate ? tokenizer.chat([{ role: 'user', content: sample }]) : sample;
    const expected = tokenizer.encode(text);
    const got = served(text);
    if (got !== null && got.length === expected.length && got.every((id, i) => id === expected[i])) continue;
    return got === null ? `ends with an error at ${shown(sample)}` : difference(tokenizer, expected, got);
  }
  return null;
}

function difference(tokenizer: Tokenizer, expected: readonly number[], got: readonly number[]): string {
  const at = expected.findIndex((id, i) => got[i] !== id);
  const from = at < 0 ? expected.length : at;
  const name = (ids: readonly number[]): string =>
    shown(ids.slice(from, from + 4).map((id) => tokenizer.token(id) ?? ''));
  return `has the tokens ${name(got)} where the tokenizer has ${name(expected)}`;
}

/** Texts of tokens from all over the vocabulary. */
function vocabularySamples(tokenizer: Tokenizer): readonly string[] {
  const step = Math.max(1, Math.floor(tokenizer.idLimit / TOKENS));
  const words = Array.from({ length: Math.ceil(tokenizer.idLimit / step) }, (_, i) =>
    tokenizer.token(i * step) === undefined ? '' : tokenizer.decode([i * step]).normalize('NFC'),
  ).filter((word) => word.trim() !== '');
  return Array.from({ length: Math.ceil(words.length / TOKENS_A_TEXT) }, (_, i) =>
    words.slice(i * TOKENS_A_TEXT, (i + 1) * TOKENS_A_TEXT).join(i % 2 === 0 ? ' ' : ''),
  );
}
