import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../../main/model/tokenizer.ts';
import { nativeTask } from '../../../main/tasks/index.ts';
import type { Task } from '../../../main/tasks/task.ts';
import { unwritableInWords } from '../../../main/text/unwritable.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { checkWritable, findUnwritable, outOfReach } from '../../../main/trainer/stage/writable.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

interface Made {
  readonly words?: readonly string[];
  readonly normalizer?: object;
  readonly model?: object;
  readonly decoder?: object;
  readonly preTokenizer?: object | null;
}

/** A tokenizer of whole words, unless the test says otherwise. */
function tokenizerOf({ words = [], normalizer, model, decoder, preTokenizer }: Made) {
  const folder = temporaryFolder();
  const vocab = Object.fromEntries(['<unk>', ...words].map((word, id) => [word, id]));
  const unk = { id: 0, content: '<unk>', special: true, normalized: false, single_word: false, lstrip: false };
  const parts = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [{ ...unk, rstrip: false }],
    normalizer: normalizer ?? null,
    post_processor: null,
    decoder: decoder ?? null,
    pre_tokenizer: preTokenizer === undefined ? { type: 'WhitespaceSplit' } : preTokenizer,
    model: model ?? { type: 'WordLevel', vocab, unk_token: '<unk>' },
  };
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(parts));
  return loadTokenizer(folder);
}

function encoded(made: Made, target: string, prompt = '') {
  const tokenizer = tokenizerOf(made);
  const record = { target, targetIds: tokenizer.encodeText(target), promptIds: tokenizer.encodeText(prompt) };
  return { tokenizer, record };
}

function found(made: Made, target: string, prompt = '') {
  const { tokenizer, record } = encoded(made, target, prompt);
  return findUnwritable(tokenizer, [record]);
}

describe('findUnwritable', () => {
  it('finds nothing where the words come back, however their accents were typed', () => {
    const words = ['café', 'noir'];
    const nothing = { unknown: 0, changed: 0, spacing: 0, unknownPromptTokens: 0 };
    expect(found({ words }, 'café noir', 'noir')).toMatchObject({ words: 2, promptTokens: 1, ...nothing });
    const composes = { words, normalizer: { type: 'NFC' } };
    expect(found(composes, 'cafe\u0301 noir')).toMatchObject(nothing);
    const takesApart = { words: ['cafe\u0301', 'noir'], normalizer: { type: 'NFD' } };
    expect(found(takesApart, 'café noir')).toMatchObject(nothing);
  });

  it('counts words without a token, and the tokens of prompts that stand for them', () => {
    const made = found({ words: ['one', 'two'] }, 'one мир two 😀 мир', 'two мир');
    expect(made).toMatchObject({ words: 5, unknown: 3, changed: 0, promptTokens: 2, unknownPromptTokens: 1 });
    expect(made.examples).toEqual([
      { word: 'мир', becomes: null },
      { word: '😀', becomes: null },
    ]);
  });

  it('finds accents without a token, though the letter with the accent has one', () => {
    const made = found({ words: ['café', 'one'] }, 'cafe\u0301 one');
    expect(made).toMatchObject({ words: 2, unknown: 1, changed: 0 });
    expect(unwritableInWords(made)).toMatch(/such as "cafe\\u0301"$/);
  });

  it('names the unknown token of a Unigram model by its id', () => {
    const vocab = [['<unk>', 0] as const, ...['▁one', '▁two'].map((token) => [token, -1] as const)];
    const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' };
    const made = { model: { type: 'Unigram', vocab, unk_id: 0 }, decoder: metaspace, preTokenizer: metaspace };
    expect(found(made, 'one мир two')).toMatchObject({ words: 3, unknown: 1, changed: 0 });
    expect(found(made, 'one two')).toMatchObject({ unknown: 0, changed: 0 });
  });

  it.each([
    ['lower case', { type: 'Lowercase' }, 'The End', ['the', 'end'], 'The', 'the'],
    [
      'no accents',
      { type: 'Sequence', normalizers: [{ type: 'NFD' }, { type: 'StripAccents' }] },
      'café one',
      ['cafe', 'one'],
      'café',
      'cafe',
    ],
    ['no ligatures', { type: 'NFKC' }, 'ﬁnd one', ['find', 'one'], 'ﬁnd', 'find'],
  ])('names words that come back in %s', (_, normalizer, target, words, word, becomes) => {
    const made = found({ words, normalizer }, target);
    expect(made.unknown).toBe(0);
    expect(made.changed).toBeGreaterThan(0);
    expect(made.examples[0]).toEqual({ word, becomes });
  });

  it('tells words that run together from white space that is only counted', () => {
    expect(found({ words: ['one', 'two'], decoder: { type: 'Fuse' } }, 'one two')).toMatchObject({ changed: 2 });
    expect(found({ words: ['one', 'two'] }, 'one\n  two')).toMatchObject({ changed: 0, spacing: 1 });
    expect(found({ words: ['one', 'two'] }, ' one two\n')).toMatchObject({ changed: 0, spacing: 0 });
  });

  it('finds nothing where bytes stand for what has no token', () => {
    const bytes = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`);
    const vocab = Object.fromEntries(['<unk>', ...bytes, '▁'].map((token, id) => [token, id]));
    const model = { type: 'BPE', vocab, merges: [], unk_token: '<unk>', byte_fallback: true };
    const normalizer = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
    const replaced = { type: 'Replace', pattern: { String: '▁' }, content: ' ' };
    const decoder = { type: 'Sequence', decoders: [replaced, { type: 'ByteFallback' }, { type: 'Fuse' }] };
    const made = found({ model, normalizer, decoder, preTokenizer: null }, 'мир  😀 ﬁ');
    expect(made).toMatchObject({ words: 3, unknown: 0, changed: 0, spacing: 0 });
  });
});

/** A run's tokens for one record of a task with a target. */
function run(task: Task, made: Made, target: string, prompt = 'one') {
  const { tokenizer, record } = encoded(made, target, prompt);
  const records = [{ record: { id: '1', prompt, target }, ...record, targetIds: [...record.targetIds, 0] }];
  return [{ tokenizer, records, evalRecords: [], maxCompletionLength: 10 }, task] as const;
}

const interleave = nativeTask('interleave') as Task;
/** Exact characters, as a reward that compares strings counts. */
const exact: Task = {
  ...interleave,
  score: (answers) =>
    answers.map(({ record, completion }) => ({
      components: { alignment: (record as unknown as { target: string }).target === completion ? 1 : 0 },
      failure: null,
    })),
};
const config = parseConfig({});

describe('outOfReach', () => {
  it('says that a reward of 1 needs words that the model can not write', () => {
    expect(outOfReach(...run(interleave, { words: ['one'] }, 'one мир'), config, true)).toBe(
      'The full reward is out of reach: 1 of 2 words contains characters that this tokenizer has no token for, such as "мир"',
    );
    expect(outOfReach(...run(interleave, { words: ['one'] }, 'one one'), config, true)).toBeNull();
  });

  it("asks the task's own reward, to which white space may matter", () => {
    const indented = 'one\n  one';
    expect(outOfReach(...run(interleave, { words: ['one'] }, indented), config, true)).toBeNull();
    expect(outOfReach(...run(exact, { words: ['one'] }, indented), config, true)).toMatch(/1 of 1 target loses white/);
    expect(outOfReach(...run(exact, { words: ['one'] }, indented), config, false)).toBeNull();
  });

  it('finds a reward that counts another Unicode form, or the space at an end, as another text', () => {
    const composes = { words: ['café'], normalizer: { type: 'NFC' } };
    expect(outOfReach(...run(interleave, composes, 'cafe\u0301'), config, true)).toBeNull();
    expect(outOfReach(...run(exact, composes, 'cafe\u0301'), config, true)).toMatch(
      /^The full reward is out of reach: this tokenizer gives back .* in another Unicode form/,
    );
    expect(outOfReach(...run(exact, { words: ['one'] }, 'one\n'), config, true)).toMatch(
      /gives back "one\\n" as "one", which the reward counts as another text/,
    );
  });

  it('takes the reward that all targets get for the highest, where the task names none', () => {
    const words = { words: ['one'] };
    expect(outOfReach(...run({ ...exact, highestReward: null }, words, 'мир'), config, true)).toMatch(/out of reach/);
    let rewards = 0;
    const heuristic: Task = {
      ...interleave,
      highestReward: null,
      score: (answers) => answers.map(() => ({ components: { alignment: 1 / ++rewards }, failure: null })),
    };
    const [tokens] = run(heuristic, words, 'мир');
    const two = { ...tokens, records: [...tokens.records, ...tokens.records] };
    expect(outOfReach(two, heuristic, config, true)).toBeNull();
  });

  it('refuses fine-tuning on targets that are unknown, whatever the reward; prompts are only named', () => {
    const free: Task = { ...interleave, score: (answers) => answers.map(() => ({ components: {}, failure: null })) };
    const sft = parseConfig({ method: 'sft' });
    const targets = run(free, { words: ['one'] }, 'one мир');
    expect(outOfReach(...targets, config, true)).toBeNull();
    expect(outOfReach(...targets, sft, true)).toMatch(/^The targets can't be learned: 1 of 2 words/);
    const prompts = run(free, { words: ['one'] }, 'one', 'мир мир');
    expect(outOfReach(...prompts, config, true)).toBeNull();
  });
});

describe('checkWritable', () => {
  it('names the setting with which it starts anyway', () => {
    const tokens = run(interleave, { words: ['one'] }, 'one мир');
    expect(() => checkWritable(...tokens, config, true)).toThrow(
      expect.objectContaining({
        code: 'UNWRITABLE_WORDS',
        kind: 'input',
        remedy: expect.stringContaining('allow_unwritable_words to true'),
      }),
    );
    expect(() => checkWritable(...tokens, { ...config, allow_unwritable_words: true }, true)).not.toThrow();
  });
});
