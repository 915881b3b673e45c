import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../main/tasks/folder/definition.ts';
import { parseFolderRecord, quotedFields } from '../../../main/tasks/folder/record.ts';
import { fieldsIn, fillIn } from '../../../main/tasks/folder/template.ts';

const task = parseDefinition(
  'task.yaml',
  `title: T
fields: { question: text, level: number, tests: list, hint: text? }
system: You are at level {level}.
prompt: "{question} {hint}{tests} {{question}}"
max_completion_length: 9
success_threshold: 1
`,
);
const record = { id: 7, question: 'Why {level}?', level: 3, tests: [1], more: true };

describe('parseFolderRecord', () => {
  it('makes the prompt, in one text and in messages, and keeps every field', () => {
    expect(parseFolderRecord(task, record)).toEqual({
      ...record,
      id: '7',
      prompt: 'You are at level 3.\n\nWhy {level}? [1] {question}',
      messages: [
        { role: 'system', content: 'You are at level 3.' },
        { role: 'user', content: 'Why {level}? [1] {question}' },
      ],
    });
  });

  it('names a record without an id after its line', () => {
    const { id: _, ...unnamed } = record;
    expect(parseFolderRecord(task, unnamed, 12).id).toBe('line-12');
  });

  it('names wrong fields, and what may have been meant', () => {
    const { question, ...rest } = record;
    expect(() => parseFolderRecord(task, { ...rest, qestion: question, level: 'three', id: {} })).toThrow(
      'expected the field "question" (text), got none; it has "qestion": did you mean "question"?; expected "level" to be a number, got "three"; expected "id" to be a text or a number, got {}',
    );
    expect(() => parseFolderRecord(task, ['x'])).toThrow('expected an object with the fields question, level');
  });

  it('has limits for what a record can ask for', () => {
    const text = 'x'.repeat(1_000_000);
    expect(() => fillIn('{a}'.repeat(100_000), { a: text })).toThrow('at most 16000000 characters');
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, 1]));
    const fields = Array.from({ length: 300 }, (_, i) => `f${i}: text`).join(', ');
    const wide = parseDefinition(
      'task.yaml',
      `title: T\nfields: {${fields}}\nprompt: x\nmax_completion_length: 9\nsuccess_threshold: 1\n`,
    );
    const began = performance.now();
    expect(() => parseFolderRecord(wide, many)).toThrow(
      /^expected the field "f0" \(text\), got none; .*"f4"\?; and 295 more$/,
    );
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe('what a record says', () => {
  const code = parseDefinition(
    'task.yaml',
    'title: T\nfields: { head: text, size: number }\nprompt: |\n  Complete:\n  {head}\nmax_completion_length: 9\nsuccess_threshold: 1\n',
  );

  it('is what the model reads, with its white space', () => {
    const prompt = (head: string) => parseFolderRecord(code, { head, size: 1 }).prompt;
    expect(prompt('def f():\n    ')).toBe('Complete:\ndef f():\n    ');
    for (const head of ['', ' ', '\t', 'a\r\n', '\n\n']) expect(prompt(head)).toBe(`Complete:\n${head}`);
  });

  it('is refused where a number would be another one', () => {
    for (const size of ['18446744073709551615', '-9007199254740993.5'])
      expect(() => parseFolderRecord(code, { head: '', size })).toThrow(
        `expected "size" to be a number, got ${size}, more than 9007199254740991, up to which numbers are exact; use a text field`,
      );
    expect(() => parseFolderRecord(code, { head: '', size: Number.POSITIVE_INFINITY })).toThrow('to be a number');
  });
});

describe('records of other people', () => {
  const foreign = parseDefinition(
    'task.yaml',
    'title: T\nfields: { fråga: text, constructor: text? }\nprompt: "Svara: {fråga}"\nmax_completion_length: 9\nsuccess_threshold: 1\n',
  );

  it('names fields in any script', () => {
    expect(parseFolderRecord(foreign, { fråga: 'Varför?' }).prompt).toBe('Svara: Varför?');
  });

  it("doesn't take a column called messages for the conversation", () => {
    const messages = [{ role: 'user', content: 'something else' }];
    expect(parseFolderRecord(foreign, { fråga: 'Varför?', messages })).not.toHaveProperty('messages');
  });

  it('finds no field in what every object has', () => {
    expect(() => parseFolderRecord(foreign, { fråga: 'x', constructor: 1 })).toThrow('"constructor" to be a text');
    expect(parseFolderRecord(foreign, { fråga: 'x' }).id).toBe('line-1');
  });
});

describe('quotedFields', () => {
  it('gives what stands in the prompt and was not written by the template', () => {
    expect(quotedFields(task, parseFolderRecord(task, record))).toEqual(['Why {level}?', '[1]', '3']);
  });
});

describe('fillIn', () => {
  it('fills each field once and verbatim', () => {
    expect(fillIn('{a}{b}{a}', { a: '{b}', b: '$&' })).toBe('{b}$&{b}');
    expect(fieldsIn('{a} {{b}} { c } {"d": 1} {a}')).toEqual(['a']);
  });
});
