import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ImportOptions, planImport, writeImport } from '../../../../main/services/datasets/import/plan.ts';
import { readTaskFolder } from '../../../../main/tasks/folder/source.ts';
import { temporaryFolderOfFile } from '../../../temporary-folder.ts';

const task = readTaskFolder(resolve(import.meta.dirname, '../../../../resources/tasks/last-number'));
let folder = '';
beforeAll(() => {
  folder = temporaryFolderOfFile();
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function options(path: string, changes: Partial<ImportOptions> = {}): ImportOptions {
  return {
    files: [path],
    testFiles: [],
    task,
    map: {},
    filters: [],
    sample: null,
    dedupe: false,
    splitBy: null,
    testShare: 0,
    seed: 42,
    ...changes,
  };
}

const rows = [
  { question: 'two and two', answer: 4, kind: 'sum' },
  { question: 'two and three', answer: 5, kind: 'sum' },
  { question: 'two by three', answer: 6, kind: 'product' },
  { question: 'three by three', answer: 9, kind: 'product' },
];
const jsonl = rows.map((row) => `${JSON.stringify(row)}\n`).join('');

describe('planImport', () => {
  it('says which records quote control tokens, and so does the import', async () => {
    const quoting = `${JSON.stringify({ question: 'what does <|eot_id|> do', answer: 7, kind: 'sum' })}\n`;
    const path = file('quoting.jsonl', jsonl + quoting);
    const said = expect.stringMatching(/^1 of 5 records contains <\|eot_id\|>, control tokens/);
    expect((await planImport(options(path))).quoted).toEqual(said);
    expect((await writeImport({ ...options(path), target: join(folder, 'quoting-out.jsonl') })).quoted).toEqual(said);
  });

  it('reads long words, and a text without an end after NaN, within seconds', async () => {
    const began = performance.now();
    const long = `${JSON.stringify({ question: 'which protein is it', answer: 'MKV'.repeat(20_000), kind: 'sum' })}\n`;
    await planImport(options(file('protein.jsonl', long + jsonl))).catch(() => undefined);
    const cut = `{"question": "a", "answer": NaN, "kind": "${'\\"'.repeat(60_000)}`;
    await expect(planImport(options(file('cut.jsonl', jsonl + cut)))).rejects.toMatchObject({ kind: 'input' });
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('says which words the model has no tokens for, and so does the import', async () => {
    const foreign = `${JSON.stringify({ question: 'который час', answer: 7, kind: 'sum' })}\n`;
    const path = file('foreign.jsonl', jsonl + foreign);
    const model = { name: 'tiny', folder: resolve(import.meta.dirname, '../../../../resources/models/tiny') };
    const said = expect.stringMatching(/^With the model tiny: \d+% of the prompts' tokens stand for characters/);
    expect((await planImport({ ...options(path), model })).unwritable).toEqual(said);
    const target = join(folder, 'foreign-out.jsonl');
    expect((await writeImport({ ...options(path), model, target })).unwritable).toEqual(said);
  });

  it('knows fields and columns by names that every object has', async () => {
    const definition = `title: Races
fields: { driver: text, constructor: text, toString: number? }
prompt: '{driver}'
target: '{constructor}'
success_threshold: 1
`;
    const races = { name: 'races', folder: 'races', definition, reward: 'export const reward = () => 1;' };
    const given = file('races.csv', 'driver,constructor\nLauda,Ferrari\nHunt,McLaren\n');
    const { mapping, train } = await planImport(options(given, { task: races }));
    expect(mapping).toEqual({ driver: 'driver', constructor: 'constructor' });
    expect(train.map(({ reference }) => reference).sort()).toEqual(['Ferrari', 'McLaren']);
  });

  it('names texts that are missing, and counts a short prompt on both sides as shared, as the import does', async () => {
    const exact = readTaskFolder(resolve(import.meta.dirname, '../../../../resources/tasks/exact-match'));
    const lines = ['question,answer', 'two and two,4', 'three and three,', 'two and two,4', 'one and one, '];
    const given = options(file('gaps.csv', lines.join('\n')), { task: exact });
    const held = { ...given, testFiles: [file('gaps-held.csv', lines.slice(0, 2).join('\n'))] };
    const { notes, leakage } = await planImport(held);
    expect(notes).toEqual([
      'answer is empty in 2 of 5 records, first on line 3; filter those rows out unless that is meant.',
    ]);
    expect(leakage).toMatchObject({ clean: false, overlaps: [{ test_id: 'test-1', train_id: 'train-1' }] });
    const written = await writeImport({ ...held, target: join(folder, 'gaps-out.jsonl') });
    expect(written).toMatchObject({ notes, leakage });
  });

  it('keeps ids of parquet that no number holds', async () => {
    const [first, second] = [1730000000000000001n, 1730000000000000002n];
    const parquet = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: [first, second], type: 'INT64' },
        { name: 'question', data: ['a', 'b'] },
        { name: 'answer', data: [1, 2] },
      ],
    });
    const { train, faults } = await planImport(options(file('long.parquet', new Uint8Array(parquet))));
    expect(faults).toEqual([]);
    expect(train.map(({ id }) => id)).toEqual([String(first), String(second)]);
  });

  it('refuses a column of bytes by its name where it is mapped', async () => {
    const columnData = [
      { name: 'question', data: ['a', 'b'] },
      { name: 'answer', data: [1, 2] },
      { name: 'image', data: [new Uint8Array([0x89]), new Uint8Array([0xff])], type: 'BYTE_ARRAY' as const },
    ];
    const source = file('bytes.parquet', new Uint8Array(parquetWriteBuffer({ columnData })));
    expect(await planImport(options(source))).toMatchObject({ problem: null, counts: { train: 2 } });
    const { problem } = await planImport(options(source, { map: { question: 'image' } }));
    expect(problem?.message).toBe(
      `The column "image" can't be read: ${source}, row 1 has bytes that aren't UTF-8 text`,
    );
  });

  it('keeps ids of JSON and JSONL that no number holds', async () => {
    const ids = ['1730000000000000001', '1730000000000000002'];
    const lines = ids.map((id, i) => `{"id": ${id}, "question": "a", "answer": ${i}}`);
    for (const source of [file('long.jsonl', lines.join('\n')), file('long.json', `[${lines.join(',')}]`)]) {
      const { train, faults } = await planImport(options(source));
      expect(faults).toEqual([]);
      expect(train.map(({ id }) => id)).toEqual(ids);
    }
  });

  it('reads the same records from JSONL, JSON, CSV and parquet', async () => {
    const parquet = parquetWriteBuffer({
      columnData: [
        { name: 'question', data: rows.map(({ question }) => question), type: 'STRING' },
        { name: 'answer', data: rows.map(({ answer }) => BigInt(answer)), type: 'INT64' },
      ],
    });
    const sources = [
      file('a.jsonl', jsonl),
      file('b.json', JSON.stringify({ version: 1, data: rows })),
      file('c.csv', `question,answer\n${rows.map(({ question, answer }) => `${question},${answer}`).join('\n')}`),
      file('d.parquet', new Uint8Array(parquet)),
    ];
    for (const source of sources) {
      const plan = await planImport(options(source));
      expect(plan.problem, source).toBeNull();
      expect(plan.counts, source).toMatchObject({ rows: 4, train: 4, test: 0, faults: 0 });
      expect(plan.train.map(({ prompt }) => prompt).join('\n')).toContain('three by three');
    }
  });

  it('takes the list of objects of a JSON file, and refuses several rather than importing the first', async () => {
    const columns = [{ name: 'question' }, { name: 'answer' }];
    const server = file('server.json', JSON.stringify({ features: columns, rows }));
    const message = 'expected one list of objects, got "features" and "rows"';
    await expect(planImport(options(server))).rejects.toThrow(message);
    const named = file('named.json', JSON.stringify({ columns: ['question', 'answer'], errors: [], rows }));
    expect((await planImport(options(named))).counts).toMatchObject({ rows: 4, train: 4, faults: 0 });
  });

  it('reads what pandas and others write of a table', async () => {
    const questions = ['two and two', 'three'];
    const shapes: Readonly<Record<string, unknown>> = {
      columns: { question: { 0: questions[0], 1: questions[1] }, answer: { 0: 4, 1: 3 } },
      index: { 0: { question: questions[0], answer: 4 }, 1: { question: questions[1], answer: 3 } },
      split: {
        columns: ['question', 'answer'],
        index: [0, 1],
        data: [
          [questions[0], 4],
          [questions[1], 3],
        ],
      },
      lists: { question: questions, answer: [4, 3] },
    };
    const records = questions.map((question, i) => JSON.stringify({ question, answer: 4 - i }));
    const sources = [
      ...Object.entries(shapes).map(([name, value]) => file(`${name}.json`, JSON.stringify(value, null, 1))),
      file('lines.json', records.join('\n')),
      file('whole.jsonl', `[${records.join(',\n')}]`),
      file('mac.jsonl', records.join('\r')),
      file('mac.csv', 'question,answer\r"two and two",4\rthree,3\r'),
      file('excel.csv', '\uFEFFsep=;\r\nquestion;answer\r\ntwo and two;4\r\nthree;3\r\n;\r\n'),
      file('blank.csv', ',\n\nquestion,answer\n\ntwo and two,4\n,\nthree,3\n,\n'),
    ];
    for (const source of sources) {
      const { rows: read, counts, faults } = await planImport(options(source));
      expect(faults, source).toEqual([]);
      expect(counts, source).toMatchObject({ rows: 2, train: 2 });
      expect(
        read.map(({ question }) => question),
        source,
      ).toEqual(questions);
      expect(
        read.map(({ answer }) => Number(answer)),
        source,
      ).toEqual([4, 3]);
    }
  });

  it('names the shapes that nobody can tell, and what to write', async () => {
    const refused = async (value: unknown, name: string) => {
      const error = (await planImport(options(file(`${name}.json`, JSON.stringify(value)))).catch(
        (thrown) => thrown,
      )) as Error;
      expect(error.message).toContain('write a list of objects, one for each record');
      return error.message;
    };
    expect(
      await refused(
        [
          ['question', 'answer'],
          ['two', 2],
        ],
        'values',
      ),
    ).toContain('a list of lists');
    expect(await refused({ a: { question: 'x' }, b: { question: 'y' } }, 'named')).toContain(
      '"a", "b" are rows or columns',
    );
    expect(await refused({ question: 'x', answer: 4 }, 'single')).toContain('an object with "question", "answer"');
    expect(await refused({ meta: [{}, {}], question: ['a', 'b'] }, 'mixed')).toContain(
      'the list of objects "meta" or columns',
    );
    const pretty = file('pretty.jsonl', '{\n "question": "a"\n}\n{\n "question": "b"\n}\n');
    await expect(planImport(options(pretty))).rejects.toThrow('an object on each line, got one that takes several');
    const broken = file('nil.json', '[\n{"question": Nil}]');
    await expect(planImport(options(broken))).rejects.toThrow('nil.json, line 2: not JSON: expected a value, got "N"');
    const info = file('dataset_info.json', '{"mine": {"file_name": "alpaca.json"}}');
    await expect(planImport(options(info))).rejects.toThrow('import the files that it names');
    const uneven = file('uneven.json', JSON.stringify({ columns: ['question', 'answer'], data: [['x', 1], ['y']] }));
    await expect(planImport(options(uneven))).rejects.toThrow('expected 2 values for each row, got 1 in row 2');
  });

  it("says which part of a list to map, and doesn't lose a conversation's system message", async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'two and two' },
    ];
    const source = file('chat.jsonl', JSON.stringify({ prompt: messages, answer: 4, texts: ['x'] }));
    const [whole] = (await planImport(options(source, { map: { question: 'prompt' } }))).faults;
    expect(whole).toContain('it is a conversation (system, user): map one role, such as question=prompt.user, or the');
    const [lost] = (await planImport(options(source, { map: { question: 'prompt.1.content' } }))).faults;
    expect(lost).toContain('the system message of prompt would be lost');
    const [list] = (await planImport(options(source, { map: { question: 'texts' } }))).faults;
    expect(list).toContain('map a part of it, such as question=texts.0');
  });

  it('refuses tables that are too wide or too deep, and reads long ones, in linear time', async () => {
    const began = performance.now();
    const names = Array.from({ length: 80_000 }, (_, i) => `c${i}`);
    const wide = file('wide.csv', `${names.join(',')}\n${names.join(',')}\n`);
    await expect(planImport(options(wide))).rejects.toThrow(
      'wide.csv: expected at most 16384 fields, got more on line 1',
    );
    const keys = file('keys.jsonl', `{${names.map((name) => `"${name}":1`).join(',')}}\n`);
    await expect(planImport(options(keys))).rejects.toThrow('keys.jsonl, line 1: expected at most 16384 columns');
    const deep = file('deep.json', `[{"question":${'['.repeat(1e6)}`);
    await expect(planImport(options(deep))).rejects.toThrow('deep.json, line 1: not JSON: expected at most 500 levels');
    const open = file('open.csv', `question,answer\n"${'a""'.repeat(1e6)}`);
    await expect(planImport(options(open))).rejects.toThrow("line 2 isn't closed");
    const long = file('long.csv', `question,answer\n${'a'.repeat(5e6)},1\n`);
    expect((await planImport(options(long))).counts.train).toBe(1);
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('separates a TSV file by tabs, whatever is in its first line', async () => {
    const plan = await planImport(
      options(file('tabs.tsv', 'question, in words\tanswer\none, two\t3\n'), {
        map: { question: 'question, in words' },
      }),
    );
    expect(plan).toMatchObject({ columns: ['question, in words', 'answer'], faults: [], counts: { train: 1 } });
    const single = await planImport(options(file('single.tsv', 'question\na, b\n'), { map: { answer: 'question' } }));
    expect(single.rows).toEqual([{ question: 'a, b' }]);
  });

  it('refuses a CSV file with two columns of one name, of which one would be lost', async () => {
    const twice = file('twice.csv', 'question,answer,answer\na,1,2\n');
    await expect(planImport(options(twice))).rejects.toThrow(
      'twice.csv, line 1: expected each column once, got "answer" twice',
    );
    const nameless = await planImport(options(file('nameless.csv', 'question,answer,,\na,1,,\n')));
    expect(nameless).toMatchObject({ problem: null, faults: [], counts: { train: 1 } });
  });

  it('guesses columns by name, and finds the last number of a text', async () => {
    const source = file('gsm.jsonl', '{"problem":"1+1","solution":"it is #### 2"}\n');
    const { mapping, first } = await planImport(options(source));
    expect(first).toEqual({ question: '1+1', answer: 2 });
    expect(mapping).toEqual({ question: 'problem', answer: 'solution:last-number' });
    const plan = await planImport(options(source));
    expect(plan.counts.train).toBe(1);
    const plain = file('plain.jsonl', '{"problem":"1+1","solution":"2"}\n');
    expect((await planImport(options(plain))).mapping.answer).toBe('solution');
  });

  it("reads numbers as a column writes them, and refuses what isn't one", async () => {
    const answers = async (name: string, ...cells: string[]) => {
      const source = file(`${name}.csv`, `question;answer\n${cells.map((cell) => `q;${cell}`).join('\n')}\n`);
      const target = join(folder, `${name}-out.jsonl`);
      const { train, faults, mapping, first } = await planImport(options(source));
      if (faults.length > 0) return faults.map((fault) => fault.replace(/^.*?line /, 'line '));
      await writeImport({ ...options(source), target });
      expect(train).toHaveLength(cells.length);
      expect(mapping.answer).toBe('answer');
      const written = readFileSync(target, 'utf8').trim().split('\n');
      const values = written.map((line) => (JSON.parse(line) as { answer: number }).answer);
      expect(first.answer).toBe(values[0]);
      return values;
    };
    expect(await answers('euro', '1.000,50', '1.500', '2,5')).toEqual([1000.5, 1500, 2.5]);
    expect(await answers('dollar', '"$1,000.50"', '"1,500"', '2.5')).toEqual([1000.5, 1500, 2.5]);
    expect(await answers('parts', '3/4', '2 1/2', '10^6')).toEqual([0.75, 2.5, 1e6]);
    // Both ways in one column: neither is certain of 1.500.
    expect(await answers('both', '2,5', '1.500', '2.5')).toEqual([
      'line 3: expected "answer" to be a number, got "1.500"',
    ]);
    const others = ['2024-05-01', '12:30', '3-5', '(5)', 'May 5', '1.2.3', '0x1F'];
    expect(await answers('others', ...others)).toEqual(
      others.map((cell, i) => `line ${i + 2}: expected "answer" to be a number, got "${cell}"`),
    );
    expect(await answers('large', '18446744073709551615')).toEqual([
      expect.stringContaining('got 18446744073709551615, more than 9007199254740991'),
    ]);
  });

  it('reads held-out numbers as the training rows show, and solutions by their marked answer', async () => {
    const train = file('marks.csv', 'question;answer\na;2,5\n');
    const test = file('marks-test.csv', 'question;answer\nb;1,234\n');
    const target = join(folder, 'marks-out.jsonl');
    const { files } = await writeImport({ ...options(train, { testFiles: [test] }), target });
    expect(JSON.parse(readFileSync(files.test, 'utf8')).answer).toBe(1.234);
    const boxed = { question: 'a', answer: 'So it is \\boxed{12}, as theorem 3 says.' };
    expect((await planImport(options(file('boxed.json', JSON.stringify([boxed]))))).first.answer).toBe(12);
  });

  it("reads True and False as Python writes them, and a CSV row's separators at its end", async () => {
    const fields =
      'title: T\nfields: { q: text, ok: boolean }\nprompt: "{q} {ok}"\nmax_completion_length: 8\nsuccess_threshold: 1\n';
    const own = { ...task, definition: fields };
    const { train, faults } = await planImport({ ...options(file('py.csv', 'q,ok\na,True,\nb,FALSE,,\n')), task: own });
    expect({ faults, prompts: train.map(({ prompt }) => prompt) }).toEqual({
      faults: [],
      prompts: ['a true', 'b false'],
    });
  });

  it('says where a quotation mark of CSV is in the middle of a field', async () => {
    const path = file('escaped.csv', 'question,answer\n"a \\"b\\" c",1\n');
    expect((await planImport(options(path))).notes).toEqual([
      'escaped.csv: 1 row has text after the closing quotation mark of a field, first on line 2; inside a field, quotation marks are written twice ("")',
    ]);
  });

  it('keeps the white space of texts, and trims a column where the mapping asks for it', async () => {
    const source = file('space.jsonl', `${JSON.stringify({ question: '  a\r\n', answer: 1 })}\n`);
    const prompt = async (map: ImportOptions['map']) => (await planImport(options(source, { map }))).train[0]?.prompt;
    expect(await prompt({})).toMatch(/\n {2}a\r\n$/);
    expect(await prompt({ question: 'question:trim' })).toMatch(/\na$/);
  });

  it('reaches into a column by its path', async () => {
    const source = file('nested.jsonl', '{"q":{"text":"1+1"},"gold":[{"value":"2"}]}\n');
    const plan = await planImport(options(source, { map: { question: 'q.text', answer: 'gold.0.value' } }));
    expect(plan.train).toMatchObject([{ line: 1, id: 'train-1' }]);
  });

  it('reaches into JSON in a text, and says what lies in a column where no other fits', async () => {
    const source = file('json-text.jsonl', `${JSON.stringify({ prompt: '1+1', info: '{"gold": "2"}' })}\n`);
    const { problem } = await planImport(options(source));
    expect(problem?.remedy).toContain('"info" has gold inside: map one, such as answer=info.gold.');
    expect((await planImport(options(source, { map: { answer: 'info.gold' } }))).first.answer).toBe(2);
  });

  it('names what is misspelt, or mapped to nothing', async () => {
    const source = file('e.jsonl', jsonl);
    const problem = async (changes: Partial<ImportOptions>) => (await planImport(options(source, changes))).problem;
    expect((await problem({ map: { qestion: 'question' } }))?.message).toContain('did you mean "question"?');
    expect((await problem({ map: { answer: 'answr' } }))?.message).toBe(
      'There is no column "answr"; did you mean "answer"?',
    );
    expect((await problem({ map: { answer: '' } }))?.message).toBe('No column is mapped to "answer"');
    expect((await problem({ splitBy: 'knd' }))?.message).toContain('did you mean "kind"?');
    expect((await problem({ filters: [{ column: 'kind', value: 'none' }] }))?.message).toBe(
      'No row is left to train on',
    );
  });

  it('filters, samples and drops duplicates', async () => {
    const source = file('f.jsonl', jsonl + jsonl);
    const counts = async (changes: Partial<ImportOptions>) => (await planImport(options(source, changes))).counts;
    expect(await counts({ dedupe: true })).toMatchObject({ rows: 8, duplicates: 4, train: 4 });
    expect(await counts({ filters: [{ column: 'kind', value: 'sum' }] })).toMatchObject({ leftOut: 4, train: 4 });
    expect(await counts({ sample: 3 })).toMatchObject({ leftOut: 5, train: 3 });
  });

  it('keeps a group on one side, and reports what both sides share', async () => {
    const source = file('g.jsonl', jsonl);
    const plan = await planImport(options(source, { splitBy: 'kind', testShare: 0.5 }));
    expect(plan.counts).toMatchObject({ train: 2, test: 2 });
    const side = (of: typeof plan.train) => new Set(of.map(({ prompt }) => (prompt.includes(' by ') ? 'by' : 'and')));
    expect(side(plan.train).size + side(plan.test).size).toBe(2);
    expect(plan.leakage).toMatchObject({ clean: true });
    const twice = await planImport(options(source, { testFiles: [source] }));
    expect(twice.leakage?.shared_titles).toHaveLength(4);
  });

  it('counts held-out rows of their own file, and says that what is wrong is about them', async () => {
    const source = file('g.jsonl', jsonl);
    const good = file('held.jsonl', `${JSON.stringify({ question: 'one and nine', answer: 10, kind: 'sum' })}\n`);
    const plan = await planImport(options(source, { testFiles: [good], sample: 3, testShare: 0.5 }));
    expect(plan.counts).toEqual({ rows: 5, leftOut: 1, duplicates: 0, faults: 0, train: 3, test: 1 });
    const empty = await planImport(options(source, { testFiles: [file('none.jsonl', '\n')] }));
    expect(empty.problem).toMatchObject({ isHeldOut: true, message: expect.stringContaining('none.jsonl') });
    const unmapped = await planImport(options(source, { map: { answer: '' }, testFiles: [good] }));
    expect(unmapped.problem).toMatchObject({ isHeldOut: false });
  });

  it('imports replies, whose counts may be missing', async () => {
    const source = file('r.csv', 'author,tweet,response,like_count\na,Tea?,"Yes, tea.",3\n');
    const plan = await planImport(options(source, { task: 'reply' }));
    expect(plan.mapping).toMatchObject({ post: 'tweet', reply: 'response', 'engagement.likes': 'like_count' });
    expect(plan.train).toMatchObject([{ id: 'train-1', reference: 'Yes, tea.' }]);
  });

  it("refuses interleaving, whose records aren't imported, and files that it can't read", async () => {
    await expect(planImport(options(file('h.jsonl', jsonl), { task: 'interleave' }))).rejects.toThrow(
      'made from texts',
    );
    const refused = async (name: string, content: string) => planImport(options(file(name, content)));
    await expect(refused('i.txt', 'x')).rejects.toThrow('expected a file of records');
    await expect(refused('j.json', '{"a": 1')).rejects.toThrow('not JSON');
    await expect(refused('k.json', '3')).rejects.toThrow('expected a list of objects');
    await expect(refused('l.json', '[3]')).rejects.toThrow('line 1: expected an object with fields, got 3');
    await expect(refused('m.csv', 'a,b\n1,2,3\n')).rejects.toThrow(/m\.csv, line 2: expected 2 fields .* got 3/);
    await expect(refused('n.csv', 'a\n"b')).rejects.toThrow("isn't closed");
    await expect(refused('o.parquet', 'PAR0')).rejects.toThrow("can't be read as parquet");
    await expect(refused('p.jsonl', '{"a": 1}\n{"a"\n')).rejects.toThrow('p.jsonl, line 2: not JSON');
    await expect(refused('q.csv', 'a,b\n')).rejects.toThrow('expected at least one row');
    await expect(planImport(options(join(folder, 'none.parquet')))).rejects.toThrow('none.parquet');
  });
});

describe('writeImport', () => {
  it('writes both files, with the mapped fields and an id', async () => {
    const target = join(folder, 'sums.jsonl');
    const written = await writeImport({ ...options(file('s.jsonl', jsonl), { testShare: 0.25 }), target });
    expect(written.counts).toMatchObject({ train: 3, test: 1 });
    const [first] = readFileSync(target, 'utf8').trim().split('\n');
    expect(JSON.parse(first ?? '')).toEqual({
      question: expect.any(String),
      answer: expect.any(Number),
      id: 'train-1',
    });
    expect(readFileSync(join(folder, 'sums.test.jsonl'), 'utf8')).toContain('"id":"test-1"');
  });

  it('writes nothing where a row has a fault, and names its line', async () => {
    const target = join(folder, 'bad.jsonl');
    const source = file('t.jsonl', `${jsonl}{"question":"?","answer":"many"}\n{"id":"x","question":"?","answer":1}\n`);
    await expect(writeImport({ ...options(source), target })).rejects.toThrow(
      /t\.jsonl, line 5: expected "answer" to be a number, got "many"/,
    );
    expect(() => readFileSync(target)).toThrow();
    const misspelt = file('v.jsonl', `${jsonl}{"question":"a","anser":"so 3"}\n{"question":"b","answer":null}\n`);
    await expect(
      writeImport({ ...options(misspelt, { testShare: 0.4, map: { answer: 'answer:last-number' } }), target }),
    ).rejects.toThrow(
      /line 5: expected the field "answer" \(number\), got none; this row has no column "answer"; did you mean "anser"\?\n.*line 6: expected the field "answer" \(number\), got none$/,
    );
    const twice = file('u.jsonl', '{"id":"x","question":"a","answer":1}\n{"id":"x","question":"b","answer":1}\n');
    await expect(writeImport({ ...options(twice), target })).rejects.toThrow(
      'expected a unique id, got "x" as on line 1',
    );
  });
});
