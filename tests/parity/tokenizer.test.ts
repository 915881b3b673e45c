/** Against transformers' fast tokenizers and chat templates: see tokenizer.py, which made the folders and the values. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../main/model/tokenizer.ts';
import type { ChatMessage } from '../../main/samples/chat-message.ts';

interface Reference {
  readonly name: string;
  readonly size: number;
  readonly rows: readonly {
    readonly text: string;
    readonly ids: readonly number[];
    /** With the tokens that the tokenizer adds by itself. */
    readonly special: readonly number[];
    readonly decoded: string;
  }[];
  readonly chats: readonly { readonly messages: readonly ChatMessage[]; readonly text: string }[];
}

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const references = JSON.parse(readFileSync(fixture('tokenizers.json'), 'utf8')) as readonly Reference[];

describe.each(references)('the tokenizer $name', ({ name, size, rows, chats }) => {
  const tokenizer = loadTokenizer(fixture(`tokenizers/${name}`));

  it('has as many tokens as in transformers', () => {
    expect(tokenizer.vocabSize).toBe(size);
  });

  it.each(rows)('encodes $text as transformers does', ({ text, ids, special }) => {
    expect(tokenizer.encode(text)).toEqual(ids);
    expect(tokenizer.encode(text, true)).toEqual(special);
  });

  it.each(rows)('decodes $text as transformers does', ({ ids, decoded }) => {
    expect(tokenizer.decode(ids)).toBe(decoded);
  });

  it.runIf(chats.length > 0).each(chats)('renders the chat $messages as transformers does', ({ messages, text }) => {
    expect(tokenizer.chat(messages)).toBe(text);
  });
});
