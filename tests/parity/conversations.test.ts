/**
 * Against transformers' apply_chat_template and TRL's masks: see conversations.py, which made the values. Templates that
 * are TRL's files are read from its folder in BRAID_TRL (`…/trl/chat_templates`); without it, those families are skipped.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadTokenizer, type Tokenizer } from '../../main/model/tokenizer.ts';
import { openTask } from '../../main/tasks/index.ts';
import { encodeRecords } from '../../main/trainer/batching/prompts.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';

interface Family {
  readonly name: string;
  /** Null: a file of TRL's. */
  readonly template: string | null;
  readonly file?: string | null;
  /** Control tokens, added to the tokenizer. */
  readonly tokens: readonly string[];
  readonly bos: string | null;
  readonly eos: string;
  readonly rows: readonly Row[];
}

/** Token ids; null: the template refuses the conversation. */
interface Row {
  readonly conversation: number;
  readonly whole: readonly number[] | null;
  readonly prompt: readonly number[] | null;
  readonly trained?: { readonly ids: readonly number[]; readonly mask: readonly number[] };
}

interface Conversation {
  readonly messages: readonly { readonly role: string; readonly tool_calls?: unknown }[];
  readonly tools?: readonly object[];
}

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const { conversations, families } = JSON.parse(readFileSync(fixture('conversations.json'), 'utf8')) as {
  readonly conversations: readonly Conversation[];
  readonly families: readonly Family[];
};
const root = temporaryFolderOfFile();

/** The tokenizer of fixtures/tokenizers/qwen2 with a family's control tokens and template. */
function tokenizerOf({ template, tokens, bos, eos }: Family): Tokenizer {
  const definition = JSON.parse(readFileSync(fixture('tokenizers/qwen2/tokenizer.json'), 'utf8')) as {
    added_tokens: { id: number; content: string }[];
  };
  for (const content of tokens)
    if (!definition.added_tokens.some((token) => token.content === content))
      definition.added_tokens.push({
        ...(definition.added_tokens[0] as { id: number; content: string }),
        content,
        id: Math.max(...definition.added_tokens.map(({ id }) => id)) + 1,
      });
  writeFileSync(join(root, 'tokenizer.json'), JSON.stringify(definition));
  const config = { chat_template: template, eos_token: eos, ...(bos !== null && { bos_token: bos }) };
  writeFileSync(join(root, 'tokenizer_config.json'), JSON.stringify(config));
  return loadTokenizer(root);
}

const definition = "title: T\nfields: { messages: messages }\nprompt: '{messages}'\nsuccess_threshold: 1\n";
const task = openTask({ name: 'talk', folder: 'talk', definition, reward: '' }, '');

const { BRAID_TRL: folder } = process.env;
const known = families.map(({ template, file, ...family }) => ({
  ...family,
  template: template ?? (folder === undefined ? null : readFileSync(join(folder, file ?? ''), 'utf8')),
}));

describe.each(known.filter(({ template }) => template !== null))(
  'conversations with the template of $name',
  (family) => {
    const tokenizer = tokenizerOf(family);
    const end = tokenizer.eosTokenId ?? -1;
    const encode = (index: number, everyTurn = false) => {
      const record = task.parseRecord({ id: 'x', ...conversations[index] });
      return encodeRecords(task, tokenizer, [record], { eosTokenIds: [end], vocabSize: 1e6 }, everyTurn)[0];
    };
    // A template that knows no tools loses calls or refuses them; they are words instead (conversation-tokens.test.ts).
    const rows = family.rows.filter(
      ({ conversation }) =>
        tokenizer.takesTools ||
        !conversations[conversation]?.messages.some(({ tool_calls }) => tool_calls !== undefined),
    );
    const isAnswered = (index: number): boolean => conversations[index]?.messages.at(-1)?.role === 'assistant';

    it.each(rows)('has the token ids of apply_chat_template for conversation $conversation', (row) => {
      const { conversation: index, whole, prompt } = row;
      if (prompt === null || whole === null) return expect(() => encode(index)).toThrow('its chat template');
      const encoded = encode(index);
      expect(encoded?.promptIds).toEqual(prompt);
      if (!isAnswered(index)) return expect(encoded?.targetIds).toEqual([end]);
      // What the template writes behind the turn's end isn't trained on.
      const target = encoded?.targetIds ?? [];
      if (whole.slice(0, prompt.length).join() === prompt.join()) {
        const rest = whole.slice(prompt.length);
        return expect(target).toEqual(rest.slice(0, rest.indexOf(end) + 1));
      }
      // Mistral's template puts the system message into the user's last one: the answer is the same.
      expect(family.name).toBe('Mistral');
      expect(whole.slice(-target.length)).toEqual(target);
    });

    const masked = rows.flatMap(({ conversation, trained }) => (trained ? [{ conversation, ...trained }] : []));
    it.runIf(masked.length > 0)(
      'trains the tokens that assistant_only_loss of TRL trains, to the end of each turn',
      () => {
        for (const { conversation, ids, mask } of masked) {
          const lessons = encode(conversation, true)?.lessons ?? [];
          const tokens = lessons.flatMap(({ completions, predicted }) =>
            completions.flatMap((completion, c) => completion.filter((_, i) => predicted?.[c]?.[i] ?? true)),
          );
          expect(tokens).toEqual(turnsOf(ids, mask));
        }
      },
    );

    /** The trained tokens of each turn, without the line breaks that TRL's templates count in. */
    function turnsOf(ids: readonly number[], mask: readonly number[]): number[] {
      const turns: number[] = [];
      let open = false;
      for (const [i, id] of ids.entries()) {
        const begins = mask[i] === 1 && mask[i - 1] !== 1;
        if (begins) open = true;
        if (mask[i] !== 1 || !open) continue;
        // Qwen2.5's header ends within the trained part.
        if (!(begins && tokenizer.token(id) === 'Ċ')) turns.push(id);
        if (id === end) open = false;
      }
      return turns;
    }
  },
);
