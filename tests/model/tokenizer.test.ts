import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { encodeAnswer } from '../../main/model/answer-tokens.ts';
import { CHAT_SETTINGS, encodeChatSettings, NO_CHAT_SETTINGS } from '../../main/model/chat-settings.ts';
import { ADDITIONAL_TEMPLATES } from '../../main/model/chat-template.ts';
import { concat, quote, type Str } from '../../main/model/jinja/text.ts';
import { encodePrompt, loadTokenizer, type Tokenizer } from '../../main/model/tokenizer.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fault } from './faults.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../parity/fixtures/tokenizers/${name}`, import.meta.url));

const EMPTY = {
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
};

describe('loadTokenizer', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));

  it('names its end token, its tokens and its files', () => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    expect(tokenizer.eosTokenId).toBe(tokenizer.tokenId('<|eot_id|>'));
    expect(tokenizer.tokenId('no such token')).toBeUndefined();
    const names = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'];
    expect(tokenizer.files.map(({ name }) => name)).toEqual(names);
  });

  it('leaves special tokens out of decoded text', () => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    expect(tokenizer.decode(tokenizer.encode('one two<|eot_id|>', true))).toBe('one two');
    expect(tokenizer.decode([])).toBe('');
  });

  it.each([
    ['not an object', 'null', 'null'],
    ['a list', '[1]', '[1]'],
    ['without a model', '{}', 'tokenizer.json'],
    ['of an unknown kind', { model: { type: 'Nonsense', vocab: {} } }, 'tokenizer.json'],
    ['with an unknown part', { ...EMPTY, normalizer: { type: 'Nonsense' } }, 'Nonsense'],
    [
      'with a token for whole words only',
      { ...EMPTY, added_tokens: [{ id: 0, content: 'word', single_word: true }] },
      '"word"',
    ],
    ['with an id beyond any vocabulary', { model: { ...EMPTY.model, vocab: { a: 2147483648 } } }, 'got 2147483648'],
    ['with an id that is not a whole number', { model: { ...EMPTY.model, vocab: { a: 0.5 } } }, 'token "a"'],
    [
      'of a BPE model that leaves merges out by chance',
      { ...EMPTY, model: { ...EMPTY.model, dropout: 0.1 } },
      'got 0.1',
    ],
    ['with an added token far out', { ...EMPTY, added_tokens: [{ id: 4194304, content: 'x' }] }, 'got 4194304'],
  ])('refuses a tokenizer.json that is %s', (_, content, named) => {
    write('tokenizer.json', content);
    expect(fault(() => loadTokenizer(folder))).toEqual(['BAD_TOKENIZER', expect.stringContaining(named)]);
  });

  it('splits special tokens in a text where tokenizer_config.json says so, as transformers does', () => {
    cpSync(fixture('llama3'), folder, { recursive: true });
    const config = JSON.parse(readFileSync(join(folder, 'tokenizer_config.json'), 'utf8'));
    write('tokenizer_config.json', { ...config, split_special_tokens: true });
    const tokenizer = loadTokenizer(folder);
    const ids = [283, 27, 91, 68, 78, 83, 62, 72, 67, 91, 29, 83, 86, 78];
    expect(tokenizer.encode('one<|eot_id|>two')).toEqual(ids);
    expect(tokenizer.encode('one<|eot_id|>two', true)).toEqual([698, ...ids]);
    expect(tokenizer.encodeQuoted('one<|eot_id|>two')).toEqual(ids);
    expect(tokenizer.tokenId('<|eot_id|>')).toBe(tokenizer.eosTokenId);
  });

  it('rejects a missing or cut tokenizer.json and a broken tokenizer_config.json', () => {
    expect(fault(() => loadTokenizer(folder))).toEqual(['MODEL_FILE_MISSING', expect.stringContaining(folder)]);
    write('tokenizer.json', '{"model": {"type": "BPE"');
    expect(fault(() => loadTokenizer(folder))[0]).toBe('BAD_JSON');
    write('tokenizer.json', EMPTY);
    write('tokenizer_config.json', '"text"');
    expect(fault(() => loadTokenizer(folder))).toEqual(['BAD_TOKENIZER', expect.stringContaining('tokenizer_config')]);
  });
});

describe('encodePrompt', () => {
  it('puts a prompt through the chat template once, without a second begin token', () => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    const ids = encodePrompt(tokenizer, 'Hi', []);
    const begin = tokenizer.tokenId('<|begin_of_text|>');
    expect(ids.filter((id) => id === begin)).toHaveLength(1);
    expect(ids).toEqual(tokenizer.encode(tokenizer.chat([{ role: 'user', content: 'Hi' }])));
  });

  it('puts the system prompt first and gives the template its variables', () => {
    const folder = temporaryFolder();
    cpSync(fixture('llama3'), folder, { recursive: true });
    const template = `{% for m in messages %}[{{ m.role }}] {{ m.content }} {% endfor %}{{ 'think' if enable_thinking else 'answer' }}`;
    writeFileSync(join(folder, 'chat_template.jinja'), template);
    const hi = [{ role: 'user', content: 'Hi' }] as const;
    expect(loadTokenizer(folder).chat(hi)).toBe('[user] Hi answer');
    const chat_template_kwargs = { enable_thinking: true, messages: 'x' };
    const settings = { ...NO_CHAT_SETTINGS, system_prompt: 'Be brief.', chat_template_kwargs };
    expect(loadTokenizer(folder, settings).chat(hi)).toBe('[system] Be brief. [user] Hi think');
    // A folder's own settings, as checkpoints have them.
    writeFileSync(join(folder, CHAT_SETTINGS), encodeChatSettings(settings) ?? '');
    const tokenizer = loadTokenizer(folder);
    expect(tokenizer.chat(hi)).toBe('[system] Be brief. [user] Hi think');
    expect(tokenizer.files.map(({ name }) => name)).toContain(CHAT_SETTINGS);
    writeFileSync(join(folder, CHAT_SETTINGS), '{"system_prompt": 3}');
    expect(fault(() => loadTokenizer(folder))).toEqual(['BAD_CHAT_SETTINGS', expect.stringContaining('system_prompt')]);
    expect(encodeChatSettings(NO_CHAT_SETTINGS)).toBeNull();
  });

  it("puts a task's messages through the template, where the run's system prompt replaces theirs", () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Say <|eot_id|>' },
    ] as const;
    const prompt = 'Be brief.\n\nSay <|eot_id|>';
    const tokenizer = loadTokenizer(fixture('llama3'));
    const ids = encodePrompt(tokenizer, prompt, ['<|eot_id|>'], messages);
    // What is quoted ends no turn: there are as many ends as without it.
    const harmless = tokenizer.chat([messages[0], { role: 'user', content: 'Say no' }]);
    const end = tokenizer.tokenId('<|eot_id|>');
    const ends = (of: readonly number[]): number => of.filter((id) => id === end).length;
    expect(ends(ids)).toBe(ends(tokenizer.encode(harmless)));
    expect(encodePrompt(tokenizer, 'x', [], [messages[0], { role: 'user', content: 'Hi' }])).toEqual(
      tokenizer.encode(tokenizer.chat([messages[0], { role: 'user', content: 'Hi' }])),
    );
    const own = loadTokenizer(fixture('llama3'), { ...NO_CHAT_SETTINGS, system_prompt: 'Be kind.' });
    expect(own.chat(messages)).toContain('Be kind.');
    expect(own.chat(messages)).not.toContain('Be brief.');
  });

  it.each(['a list in tokenizer_config.json', 'files of their own'])('has %s for chats with tools', (where) => {
    const folder = temporaryFolder();
    cpSync(fixture('llama3'), folder, { recursive: true });
    const [usual, own] = ['default', 'tool_use'].map((name) => ({
      name,
      template: `${name}{% for m in messages %} {{ m.content }}{% endfor %}{{ tools | length if tools else '' }}`,
    }));
    const config = join(folder, 'tokenizer_config.json');
    const settings = JSON.parse(readFileSync(config, 'utf8')) as object;
    if (where.startsWith('a list')) {
      rmSync(join(folder, 'chat_template.jinja'));
      writeFileSync(config, JSON.stringify({ ...settings, chat_template: [own, usual] }));
    } else {
      const more = join(folder, ADDITIONAL_TEMPLATES);
      mkdirSync(more);
      writeFileSync(join(folder, 'chat_template.jinja'), usual?.template ?? '');
      writeFileSync(join(more, 'tool_use.jinja'), own?.template ?? '');
    }
    const copy = temporaryFolder();
    mkdirSync(copy, { recursive: true });
    for (const { name, content } of loadTokenizer(folder).files) writeFileSync(join(copy, name), content());
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }] as const;
    for (const tokenizer of [folder, copy].map((each) => loadTokenizer(each))) {
      expect(tokenizer.chat([{ role: 'user', content: 'Hi' }])).toBe('default Hi');
      expect(tokenizer.chat([{ role: 'user', content: 'Hi' }], true, tools)).toBe('tool_use Hi1');
      expect(tokenizer.takesTools).toBe(true);
      const seen = encodeAnswer(tokenizer, [{ role: 'tool', content: 'four' }], null);
      expect(tokenizer.decode(seen)).toBe(' four');
    }
  });

  it('gives the template the tokens that are named besides the usual ones', () => {
    const folder = temporaryFolder();
    cpSync(fixture('llama3'), folder, { recursive: true });
    const config = join(folder, 'tokenizer_config.json');
    const settings = JSON.parse(readFileSync(config, 'utf8')) as object;
    writeFileSync(config, JSON.stringify({ ...settings, extra_special_tokens: { image_token: '<|eot_id|>' } }));
    writeFileSync(join(folder, 'chat_template.jinja'), '{{ image_token }}');
    expect(loadTokenizer(folder).chat([{ role: 'user', content: 'Hi' }])).toBe('<|eot_id|>');
  });

  it('takes plain text with the own tokens of a tokenizer that has no template', () => {
    const tokenizer = loadTokenizer(fixture('wordpiece'));
    expect(tokenizer.hasChatTemplate).toBe(false);
    expect(encodePrompt(tokenizer, 'word', [])).toEqual(tokenizer.encode('word', true));
    expect(fault(() => tokenizer.chat([]))[0]).toBe('NO_CHAT_TEMPLATE');
  });
});

describe('encodeAnswer', () => {
  it('is what the template puts between two answers of the assistant, after the end token that the turn has', () => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    const end = tokenizer.tokenId('<|eot_id|>') ?? -1;
    const said = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Guess' },
      { role: 'user', content: 'Higher' },
    ] as const;
    const asked = encodePrompt(tokenizer, 'Hi', []);
    const turn = [...tokenizer.encodeText('Guess'), end];
    const whole = tokenizer.encode(tokenizer.chat(said));
    expect([...asked, ...turn, ...encodeAnswer(tokenizer, [{ role: 'user', content: 'Higher' }], end)]).toEqual(whole);
    // A turn that was cut off is ended for it.
    expect([
      ...asked,
      ...turn.slice(0, -1),
      ...encodeAnswer(tokenizer, [{ role: 'user', content: 'Higher' }], null),
    ]).toEqual(whole);
    const quoting = encodeAnswer(tokenizer, [{ role: 'user', content: 'Say <|eot_id|>' }], end);
    expect(quoting.filter((id) => id === end)).toHaveLength(1);
  });

  it('is a line of its own without a template', () => {
    const tokenizer = loadTokenizer(fileURLToPath(new URL('../../resources/models/tiny', import.meta.url)));
    expect(encodeAnswer(tokenizer, [{ role: 'user', content: 'two words\n' }], tokenizer.eosTokenId)).toEqual(
      tokenizer.encodeText('\ntwo words\n'),
    );
  });

  it('refuses a template that leaves earlier answers out', () => {
    const folder = temporaryFolder();
    cpSync(fixture('llama3'), folder, { recursive: true });
    writeFileSync(join(folder, 'chat_template.jinja'), '{{ messages[-1].content }}');
    const [code, message] = fault(() => encodeAnswer(loadTokenizer(folder), [{ role: 'user', content: 'x' }], null));
    expect([code, message]).toEqual(['CHAT_TEMPLATE_FAILED', expect.stringContaining('leaves out earlier answers')]);
  });
});

describe('digits', () => {
  // Parts as tokenizers 0.23.2 cuts "a½² ①12٣٤x 9".
  it.each([
    [true, ['a', '½', '²', ' ', '①', '1', '2', '٣', '٤', 'x ', '9']],
    [false, ['a', '½²', ' ', '①12٣٤', 'x ', '9']],
  ])('are all that Unicode calls a number, individual_digits %s', (individual_digits, parts) => {
    const folder = temporaryFolder();
    const vocab = Object.fromEntries(['?', ...new Set(parts)].map((part, id) => [part, id]));
    const model = { type: 'WordLevel', vocab, unk_token: '?' };
    writeFileSync(
      join(folder, 'tokenizer.json'),
      JSON.stringify({ ...EMPTY, pre_tokenizer: { type: 'Digits', individual_digits }, model }),
    );
    const tokenizer = loadTokenizer(folder);
    expect(tokenizer.encode(parts.join('')).map((id) => tokenizer.token(id))).toEqual(parts);
  });
});

describe('control tokens in a text', () => {
  const folders = readdirSync(fixture('.')).filter((name) => !name.includes('.'));

  it.each(folders)('are characters of the text: %s', (name) => {
    const tokenizer = loadTokenizer(fixture(name));
    const { added_tokens: added } = JSON.parse(readFileSync(join(fixture(name), 'tokenizer.json'), 'utf8'));
    const control = (added as { content: string; id: number; special: boolean }[]).filter(({ special }) => special);
    const count = (ids: readonly number[]) => ids.filter((id) => control.some((token) => token.id === id)).length;
    const plain = 'A post that quotes nothing.';
    expect(encodePrompt(tokenizer, plain, [plain])).toEqual(
      tokenizer.hasChatTemplate
        ? tokenizer.encode(tokenizer.chat([{ role: 'user', content: plain }]))
        : tokenizer.encode(plain, true),
    );
    const unknown = control.find(({ content }) => /unk/i.test(content))?.id;
    for (const { content } of control) {
      const quoting = `A post that quotes ${content} in the middle.`;
      expect(tokenizer.controlTokens(quoting)).toEqual([content]);
      const ids = tokenizer.encodeText(quoting);
      // A vocabulary of words may know none of the characters.
      expect(count(ids.filter((id) => id !== unknown))).toBe(0);
      if (!ids.includes(unknown ?? -1)) expect(tokenizer.decode(ids)).toContain(content);
      const prompt = encodePrompt(tokenizer, `Reply: ${quoting}`, [quoting]).filter((id) => id !== unknown);
      expect(count(prompt)).toBe(
        count(encodePrompt(tokenizer, `Reply: ${plain}`, [plain]).filter((id) => id !== unknown)),
      );
    }
  });

  it('leave the ids of all other text as they are, where only a first section begins with a space', () => {
    const folder = temporaryFolder();
    const special = { special: true, single_word: false, lstrip: false, rstrip: false, normalized: false };
    const added = ['<s>', '</s>', '[/I]'].map((content, id) => ({ id, content, ...special }));
    const letters = ['▁', ...'abdfghikoqrstuw<>/?[]I'];
    const vocab = Object.fromEntries(
      [...added.map(({ content }) => content), ...letters].map((token, id) => [token, id]),
    );
    writeFileSync(
      join(folder, 'tokenizer.json'),
      JSON.stringify({
        ...EMPTY,
        added_tokens: added,
        pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: false },
        model: { type: 'BPE', vocab, merges: [], unk_token: null },
      }),
    );
    const tokenizer = loadTokenizer(folder);
    const tokens = (text: string) =>
      tokenizer.encodeQuoted(concat(['<s>ask', quote(text, 0), '[/I]thus[/I]'])).map((id) => tokenizer.token(id));
    const around = (...middle: string[]) => ['<s>', ...'ask', ...middle, '[/I]', ...'thus', '[/I]'];
    expect(tokens('ab of')).toEqual(around(...'ab▁of'));
    expect(tokens('ab </s>of')).toEqual(around(...'ab▁</s>of'));
    expect(tokens('</s>')).toEqual(around(...'</s>'));
    // By itself a text is the first section.
    const alone = (text: string) => tokenizer.encodeText(text).map((id) => tokenizer.token(id));
    expect(alone('ab of')).toEqual([...'▁ab▁of']);
    expect(alone('ab </s>of')).toEqual([...'▁ab▁</s>of']);
  });

  it('drop the white space around them as in all other text, where the tokenizer strips it', () => {
    const folder = temporaryFolder();
    const special = { special: true, single_word: false, normalized: false };
    const strips = { '<s>': 'rstrip', '</s>': 'both', '[I]': 'rstrip', '[/I]': 'lstrip', '[K]': 'neither' };
    const added = Object.entries(strips).map(([content, strip], id) => {
      const [lstrip, rstrip] = [strip === 'lstrip' || strip === 'both', strip === 'rstrip' || strip === 'both'];
      return { id, content, lstrip, rstrip, ...special };
    });
    const letters = ['▁', ...'abdfghikoqrstuw<>/[]IK'];
    const vocab = Object.fromEntries([...Object.keys(strips), ...letters].map((token, id) => [token, id]));
    writeFileSync(
      join(folder, 'tokenizer.json'),
      JSON.stringify({
        ...EMPTY,
        added_tokens: added,
        pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: false },
        model: { type: 'BPE', vocab, merges: [], unk_token: null },
      }),
    );
    const tokenizer = loadTokenizer(folder);
    const tokens = (text: string, around: (whole: Str) => Str) =>
      tokenizer.encodeQuoted(around(quote(text, 0))).map((id) => tokenizer.token(id));
    const stripped = (whole: Str) => concat(['<s>ask [I]  ', whole, '  [/I] thus </s> ']);
    const kept = (whole: Str) => concat(['[K] ', whole, ' [K]']);
    // What quotes nothing, the tokenizer itself encodes.
    for (const [text, words] of [
      ['ab of', 'ab▁of'],
      ['ab </s> of', 'ab▁</s>▁of'],
      [' </s>ab ', '</s>ab'],
      ['[I] ab</s>', '[I]▁ab</s>'],
    ] as const) {
      const ask = ['<s>', ...'ask▁', '[I]', ...words, '[/I]', ...'▁thus', '</s>'];
      expect(tokens(text, stripped), text).toEqual(ask);
    }
    expect(tokens('ab', kept)).toEqual(['[K]', ...'▁ab▁', '[K]']);
    expect(tokens('</s> ab', kept)).toEqual(['[K]', ...'▁</s>▁ab▁', '[K]']);
    // By itself a text has no control token beside it.
    expect(tokens(' </s> ', (whole) => whole)).toEqual([...'▁</s>▁']);
    // Nothing is searched twice: a quadratic search would take minutes.
    const spaces = ' '.repeat(200_000);
    expect(tokens(`</s>${spaces}`, stripped)).toHaveLength(tokens('</s>', stripped).length);
  });

  const bundled = loadTokenizer(fileURLToPath(new URL('../../resources/models/tiny', import.meta.url)));
  const controlsOf = (tokenizer: Tokenizer, ids: readonly number[]): string[] =>
    ids.map((id) => tokenizer.token(id) ?? '').filter((token) => tokenizer.controlTokens(token).includes(token));

  it('are characters where the vocabulary has them as words', () => {
    const ids = bundled.encodeText('one <eos> two <bos> <pad>');
    expect(controlsOf(bundled, ids).filter((token) => token !== '<unk>')).toEqual([]);
    expect(ids.length).toBeGreaterThanOrEqual(5);
  });

  it('count in a prompt that has words of theirs', () => {
    const prompt = 'Process B reads: Process B and reads <eos> a';
    const ids = encodePrompt(bundled, prompt, ['Process', 'B', 'reads', 'Process B and reads <eos> a', 'a']);
    expect(controlsOf(bundled, ids).filter((token) => token !== '<unk>')).toEqual(['Process B reads:']);
  });

  it.each([
    ['a part inside a longer one', 'x<|eot_id|>y <|eot_id|>', ['<|eot_id|>', 'x<|eot_id|>y <|eot_id|>']],
    ['a part that begins inside another one', 'ab<|eot_id|>cd', ['ab<|eot', '<|eot_id|>cd']],
    ['parts that make one together', '<|eot_id|>', ['<|eot', '_id|>']],
    ['parts that make one of the same part', '<|eot_id|>', ['<', '|', '>', 'eot', '_id']],
    ['a part with the marks of earlier versions', '\uFDD00\uFDD1<|eot_id|>\uFDD2', ['\uFDD00\uFDD1<|eot_id|>\uFDD2']],
  ])('are characters in %s', (_, prompt, parts) => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    const plainly = encodePrompt(tokenizer, 'x', ['x']);
    const ids = encodePrompt(tokenizer, prompt, parts);
    expect(controlsOf(tokenizer, ids)).toEqual(controlsOf(tokenizer, plainly));
    expect(tokenizer.decode(ids)).toContain(prompt);
  });

  it('are characters where a template completes them, and after what a template does to a text', () => {
    const folder = temporaryFolder();
    cpSync(fixture('llama3'), folder, { recursive: true });
    writeFileSync(
      join(folder, 'chat_template.jinja'),
      "{% for m in messages %}<{{ m.content | trim | replace('!', '|eot_id|>') }}|eot_id|>{{ m.content.split(' ')[0][::-1] }}{{ {'c': m.content} | tojson }}{{ m.content|upper }}<|eot_id|>{% endfor %}",
    );
    const tokenizer = loadTokenizer(folder);
    const ids = encodePrompt(tokenizer, ' |eot_id|> <!<|eot_id|> ', [' |eot_id|> <!<|eot_id|> ']);
    // The one that the template writes as a whole; what it inserts makes none with somebody's "<".
    expect(controlsOf(tokenizer, ids)).toEqual(['<|eot_id|>']);
    expect(tokenizer.decode(ids)).toContain('<|eot_id|> <|eot_id|><|eot_id|>|eot_id|>');
  });

  it('leave every character of the messages where it is', () => {
    const tokenizer = loadTokenizer(fixture('llama3'));
    const odd = 'a\uFDD2b\uFDD3c\uFDD2<|eot_id|>d';
    const messages = [
      { role: 'system', content: `system ${odd}` },
      { role: 'user', content: `user ${odd}` },
    ] as const;
    const text = tokenizer.decode(encodePrompt(tokenizer, '', [odd], messages));
    const [before = '', after = ''] = text.split(/user\s+user /);
    expect(before).toContain(`system ${odd}`);
    expect(after).toContain(odd);
    const answer = encodeAnswer(tokenizer, [{ role: 'user', content: `next ${odd}` }], null);
    expect(tokenizer.decode(answer)).toContain(`next ${odd}`);
    const end = tokenizer.tokenId('<|eot_id|>') ?? -1;
    expect(answer.filter((id) => id === end)).toHaveLength(2);
  });

  it("of a prompt's template count", () => {
    const tokenizer = loadTokenizer(fixture('wordpiece'));
    const [control = ''] = tokenizer.controlTokens('[CLS] [SEP]');
    const id = tokenizer.tokenId(control);
    const prompt = `${control} somebody's ${control} word`;
    const ids = encodePrompt(tokenizer, prompt, [`somebody's ${control} word`]);
    expect(ids.filter((each) => each === id)).toHaveLength(tokenizer.encode('', true).includes(id ?? -1) ? 2 : 1);
  });

  it.each([
    // From tokenizers 0.23.2 with `encode_special_tokens`, which is what transformers' split_special_tokens sets.
    [
      'llama3',
      [
        283, 27, 91, 68, 78, 83, 62, 72, 67, 91, 29, 83, 86, 78, 220, 27, 91, 65, 68, 70, 265, 62, 422, 62, 270, 87, 83,
        91, 29,
      ],
    ],
    [
      'qwen2',
      [
        283, 27, 91, 68, 78, 83, 62, 72, 67, 91, 29, 83, 86, 78, 220, 27, 91, 65, 68, 70, 265, 62, 420, 62, 270, 87, 83,
        91, 29,
      ],
    ],
  ])('have the ids of tokenizers as text: %s', (name, expected) => {
    expect(loadTokenizer(fixture(name)).encodeText('one<|eot_id|>two <|begin_of_text|>')).toEqual(expected);
  });
});

describe('a vocabulary that lacks words', () => {
  it('is refused where it has no token for unknown ones', () => {
    const folder = temporaryFolder();
    const model = { type: 'WordLevel', vocab: { known: 0 }, unk_token: 'nowhere' };
    const definition = { ...EMPTY, pre_tokenizer: { type: 'WhitespaceSplit' }, model };
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(definition));
    const tokenizer = loadTokenizer(folder);
    expect(tokenizer.encode('known known')).toEqual([0, 0]);
    expect(fault(() => tokenizer.encode('known other'))).toEqual([
      'BAD_TOKENIZER',
      expect.stringContaining('"known other"'),
    ]);
  });
});
