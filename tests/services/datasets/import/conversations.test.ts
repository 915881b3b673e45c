/** Chat datasets as other tools write them, for the bundled task `conversation`; packed files too. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ImportOptions, planImport, writeImport } from '../../../../main/services/datasets/import/plan.ts';
import { readTaskFolder } from '../../../../main/tasks/folder/source.ts';
import { brokenConversations } from '../../../tasks/folder/broken-conversations.ts';
import { temporaryFolderOfFile } from '../../../temporary-folder.ts';

const bundled = (name: string) => readTaskFolder(resolve(import.meta.dirname, '../../../../resources/tasks', name));
let folder = '';
beforeAll(() => {
  folder = temporaryFolderOfFile();
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const options = (path: string, changes: Partial<ImportOptions> = {}): ImportOptions => ({
  ...{ files: [path], testFiles: [], task: bundled('conversation'), map: {}, filters: [], sample: null },
  ...{ dedupe: false, splitBy: null, testShare: 0, seed: 42 },
  ...changes,
});
const plan = (path: string, changes: Partial<ImportOptions> = {}) => planImport(options(path, changes));
const lines = (...rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const user = { role: 'user', content: 'Two and two?' };
const said = { role: 'assistant', content: 'Four.' };
const asked = [{ messages: [user], reference: 'Four.' }];
const shareGpt = [
  { from: 'human', value: 'Two and two?' },
  { from: 'gpt', value: 'Four.' },
];

describe('an import of conversations', () => {
  it.each<[string, () => string, string]>([
    ["OpenAI's fine-tuning files", () => file('a.jsonl', lines({ messages: [user, said] })), 'messages'],
    [
      "TRL's prompts and completions",
      () => file('b.jsonl', lines({ prompt: [user], completion: [said] })),
      'prompt+completion',
    ],
    [
      "TRL's preferences",
      () => file('c.jsonl', lines({ prompt: [user], chosen: [said], rejected: [said] })),
      'prompt+chosen',
    ],
    ['ShareGPT', () => file('d.json', JSON.stringify([{ id: 'x', conversations: shareGpt }])), 'conversations'],
    ['texts', () => file('e.jsonl', lines({ instruction: 'Two and two?', output: 'Four.' })), 'instruction+output'],
    [
      "OpenAI's system message beside the turns",
      () => file('s.jsonl', lines({ system: '', messages: [user, said] })),
      'system+messages',
    ],
    [
      'instructions with an input',
      () => file('al.jsonl', lines({ instruction: 'Two and two?', input: '', output: 'Four.' })),
      'instruction+input+output',
    ],
    ['JSON in CSV', () => file('f.csv', `talk\n"${JSON.stringify(shareGpt).replaceAll('"', '""')}"\n`), 'talk'],
    [
      'parquet',
      () => {
        const columnData = [{ name: 'messages', data: [[user, said]], type: 'JSON' as const }];
        return file('g.parquet', new Uint8Array(parquetWriteBuffer({ columnData })));
      },
      'messages',
    ],
    [
      "OpenAI's Responses",
      () =>
        file('r.jsonl', lines({ instructions: null, input: 'Two and two?', output: [{ type: 'message', ...said }] })),
      'instructions+input+output',
    ],
    [
      "LLaMA-Factory's preferences",
      () =>
        file('lf.jsonl', lines({ conversations: shareGpt.slice(0, 1), chosen: shareGpt[1], rejected: shareGpt[1] })),
      'conversations+chosen',
    ],
    [
      'LangChain',
      () =>
        file(
          'l.jsonl',
          lines({
            run: [
              { type: 'human', data: { content: 'Two and two?' } },
              { type: 'ai', data: { content: 'Four.' } },
            ],
          }),
        ),
      'run',
    ],
    [
      'Gemini',
      () =>
        file(
          'm.jsonl',
          lines({
            contents: [
              { role: 'user', parts: [{ text: 'Two and two?' }] },
              { role: 'model', parts: [{ text: 'Four.' }] },
            ],
          }),
        ),
      'contents',
    ],
    ['gzip', () => file('h.jsonl.gz', gzipSync(lines({ messages: [user, said] }))), 'messages'],
    ['Zstandard', () => file('i.jsonl.zst', zstdCompressSync(lines({ messages: [user, said] }))), 'messages'],
  ])('guesses the column of %s', async (_, source, column) => {
    const { mapping, train, problem, faults } = await plan(source());
    expect({ problem, faults, mapping: mapping.messages }).toEqual({ problem: null, faults: [], mapping: column });
    expect(train).toMatchObject(asked);
  });

  it('says what is not in the rows: thoughts that nobody can read, turns that a server kept', async () => {
    const hidden = { type: 'reasoning', summary: [], encrypted_content: 'x' };
    const source = file('hidden.jsonl', lines({ messages: [user, said] }, { messages: [user, hidden, said] }));
    expect((await plan(source)).notes).toEqual([
      '1 record has encrypted thoughts, which are left out, first on line 2.',
    ]);
    const answer = { input: [user], output: [said] };
    const continued = file('continued.jsonl', lines(answer, { ...answer, previous_response_id: 'resp_1' }));
    expect((await plan(continued)).notes).toEqual([
      expect.stringMatching(/^1 record continues an earlier response .* first on line 2;/),
    ]);
  });

  it('writes them in one form, with the functions that they offer', async () => {
    const tools = [{ type: 'function', function: { name: 'add' } }];
    const source = file('tools.jsonl', lines({ conversations: shareGpt, tools: JSON.stringify(tools) }));
    const { files } = await writeImport({ ...options(source), target: join(folder, 'written.jsonl') });
    expect(JSON.parse(readFileSync(files.train, 'utf8'))).toEqual({ id: 'train-1', messages: [user, said], tools });
  });

  it('joins what stands beside a question, and a system message, in whatever task', async () => {
    const row = { system_prompt: 'Be brief.', instruction: 'Translate.', context: 'Guten Tag', response: 'Hello' };
    const source = file('beside.jsonl', lines(row));
    expect((await plan(source)).train[0]?.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Translate.\n\nGuten Tag' },
    ]);
    const { mapping, train } = await plan(source, { task: bundled('exact-match') });
    expect(mapping.question).toBe('instruction+context');
    expect(train[0]?.prompt).toContain('Translate.\n\nGuten Tag');
  });

  it('has the earlier turns beside an instruction, and says so where a task of texts has no place for them', async () => {
    const row = {
      instruction: 'And three?',
      input: '',
      output: 'Six.',
      system: 'Be brief.',
      history: [] as string[][],
    };
    const source = file('history.jsonl', lines(row, { ...row, history: [['Two and two?', 'Four.']] }));
    const { mapping, train } = await plan(source);
    expect(mapping.messages).toBe('system+history+instruction+input+output');
    const system = { role: 'system', content: 'Be brief.' };
    const question = { role: 'user', content: 'And three?' };
    expect(train.map(({ messages }) => messages)).toEqual([
      [system, question],
      [system, user, said, question],
    ]);
    expect((await plan(source, { task: bundled('exact-match') })).notes).toEqual([
      'history isn\'t used, in 1 row: earlier turns are left out; the task "conversation" takes them.',
    ]);
  });

  it("leaves out the nulls that Arrow's tables add to calls and functions, as TRL does", async () => {
    const call = (given: object) => ({ type: 'function', function: { name: 'add', arguments: given } });
    const turn = (given: object | string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [call(given as object)],
    });
    const tools = [{ type: 'function', function: { name: 'add', parameters: { properties: { a: {}, city: null } } } }];
    const source = file(
      'arrow.jsonl',
      lines({ messages: [user, turn({ a: 2, city: null })], tools }, { messages: [user, turn('{"a": null}')], tools }),
    );
    const target = join(folder, 'arrow-out.jsonl');
    const { files } = await writeImport({ ...options(source), target });
    const [first, second] = readFileSync(files.train, 'utf8').trim().split('\n');
    const written = JSON.parse(first ?? '');
    expect(written.messages[1].tool_calls).toEqual([call({ a: 2 })]);
    expect(written.tools[0].function.parameters).toEqual({ properties: { a: {} } });
    // A call in a text has what its author wrote.
    expect(JSON.parse(second ?? '').messages[1].tool_calls).toEqual([call({ a: null })]);
  });

  it('says that completions are marked as bad examples', async () => {
    const row = { prompt: 'Two and two?', completion: 'Four.', label: true };
    const source = file('labels.jsonl', lines(row, { ...row, completion: 'Five.', label: false }));
    expect((await plan(source)).notes).toEqual([
      'label is false in 1 of 2 rows, first on line 2: bad examples, which would be trained on as good ones; filter those rows out.',
    ]);
    expect((await plan(source, { filters: [{ column: 'label', value: 'true' }] })).notes).toEqual([]);
    const { mapping, notes } = await plan(source, { task: bundled('exact-match') });
    expect([mapping.answer, notes.length]).toEqual(['completion', 1]);
    const tagged = file('tagged.jsonl', lines({ conversations: shareGpt, kto_tag: false }));
    expect((await plan(tagged)).notes).toEqual([expect.stringMatching(/^kto_tag is false in 1 of 1 row,/)]);
  });

  it("takes a prompt alone, and another field's column for that field, where the task judges by it", async () => {
    const definition = `title: Mine
fields: { prompt: messages, solution: text }
prompt: '{prompt}'
max_completion_length: 8
success_threshold: 1
`;
    const task = { ...bundled('conversation'), definition };
    for (const asks of ['prompt', 'problem']) {
      const source = file(`${asks}.jsonl`, lines({ [asks]: 'Two and two?', solution: '4' }));
      const { mapping, train } = await plan(source, { task });
      expect(mapping).toEqual({ prompt: asks, solution: 'solution' });
      expect(train).toMatchObject([{ messages: [user], reference: '' }]);
    }
    const source = file('unjudged.jsonl', lines({ prompt: 'Two and two?', solved: true }));
    expect((await plan(source)).problem?.message).toBe('No column is mapped to "messages"');
  });

  it('says that rejected answers are not used', async () => {
    const source = file('rejected.jsonl', lines({ messages: [user, said], rejected_response: 'Five.' }));
    expect((await plan(source)).notes).toEqual([
      "rejected_response isn't used, in 1 row: there is no training on preferences, so only the better answers are kept, as targets.",
    ]);
  });

  it('unpacks every frame of a .zst file', async () => {
    const frame = zstdCompressSync(lines({ messages: [user, said] }));
    expect((await plan(file('frames.jsonl.zst', Buffer.concat([frame, frame])))).counts.train).toBe(2);
  });

  it('names file, line and place of what is wrong', async () => {
    const source = file('bad.jsonl', lines({ messages: [user, said] }, { messages: [user, { role: 'assistant' }] }));
    expect((await plan(source)).faults).toEqual([
      `${source}, line 2: expected "messages[1].content" to be a text, got none; only a message with tool_calls may lack it`,
    ]);
    const seen = file('seen.jsonl', lines({ messages: [user, said], image: 'a.png' }));
    expect((await plan(seen)).faults).toEqual([
      `${seen}, line 1: it has "image", which models here can't read: they read text alone`,
    ]);
  });

  it.each(brokenConversations)('refuses one with %s, by file, line and reason', async (what, record, reason) => {
    const column = Object.hasOwn(record, 'conversations') ? 'conversations' : 'messages';
    const good = { [column]: column === 'messages' ? [user, said] : shareGpt };
    const source = file(`${what.replaceAll(/\W/g, '-')}.jsonl`, lines(good, record));
    const { faults, train } = await plan(source);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(`${source}, line 2: `)).toBe(true);
    expect(faults[0]).toContain(reason);
    expect(train).toHaveLength(1);
  });

  it('gives a task of texts what each role says, and loses no turn without a word', async () => {
    const task = bundled('exact-match');
    const map = { question: 'messages.user', answer: 'messages.assistant' };
    const source = file('roles.jsonl', lines({ messages: [user, said] }));
    expect((await plan(source, { task, map })).train).toMatchObject([{ reference: 'Four.' }]);
    expect((await plan(source, { task, map: { ...map, question: 'messages' } })).faults[0]).toContain(
      'it is a conversation (user, assistant): map one role, such as question=messages.user, or the task "conversation" takes it whole',
    );
    // A prompt of messages, as TRL's and verl's rows have it, is what the user says.
    const verl = file('verl.jsonl', lines({ prompt: [user], reward_model: { style: 'rule', ground_truth: 'Four.' } }));
    const guessed = await plan(verl, { task });
    expect(guessed.mapping).toEqual({ question: 'prompt.user', answer: 'reward_model.ground_truth' });
    expect(guessed.train).toMatchObject([{ reference: 'Four.' }]);
    const swift = file('swift.jsonl', lines({ messages: [user], solution: 'Four.' }));
    expect((await plan(swift, { task })).problem?.remedy).toContain('such as question=messages.user.');
    const turns = file('turns.jsonl', lines({ messages: [user, said, user, said] }));
    expect((await plan(turns, { task, map })).faults[0]).toContain(
      'has several turns, of which messages.user is the last',
    );
  });

  it('says what is wrong with packed files', async () => {
    await expect(plan(file('cut.jsonl.gz', gzipSync('{}').subarray(0, 12)))).rejects.toThrow(
      'expected a whole .gz file',
    );
    await expect(plan(file('table.parquet.gz', gzipSync('x')))).rejects.toThrow('the parquet file itself');
    await expect(plan(file('notes.txt.gz', gzipSync('x')))).rejects.toThrow('expected a file of records');
  });

  it("reads Python's NaN as no value, and says so", async () => {
    const source = file(
      'nan.jsonl',
      `${lines({ messages: [user, said] })}{"messages": [${JSON.stringify({ ...user, content: 'a NaN' })}], "score": NaN, "least": -Infinity}\n`,
    );
    const { notes, train, rows } = await plan(source);
    expect(notes).toEqual(['nan.jsonl: 2 NaN or Infinity were read as no value, the first in line 2']);
    expect(rows[1]).toMatchObject({ score: null, least: null });
    expect(train[1]?.messages).toEqual([{ role: 'user', content: 'a NaN' }]);
  });
});
