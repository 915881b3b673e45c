import { describe, expect, it } from 'vitest';
import { checkDefinition } from '../../../main/tasks/folder/definition.ts';

const judged = `title: Judged
fields:
  question: text
prompt: '{question}'
max_completion_length: 8
success_threshold: 1
rewards:
  short: 0.5
  quality:
    weight: 2
    judge: http://127.0.0.1:11434/v1
    model: qwen
    rubric: |
      Question: {question}
      Answer: {completion}
    scale: [0, 5]
  style:
    weight: 1
    command: [node, style.mjs]
`;

const reasons = (text: string): string[] => {
  const checked = checkDefinition(text);
  return 'faults' in checked ? checked.faults.map(({ line, reason }) => `${line}: ${reason}`) : [];
};

describe('rewards of task.yaml', () => {
  it('has weights of all, and what is declared of those outside the sandbox', () => {
    const checked = checkDefinition(judged);
    expect(checked).toMatchObject({
      definition: {
        rewards: { short: 0.5, quality: 2, style: 1 },
        external: {
          quality: { kind: 'judge', model: 'qwen', scale: [0, 5], retries: 3, temperature: 0 },
          style: { kind: 'command', command: ['node', 'style.mjs'], files: [], timeout_s: 60 },
        },
      },
    });
    expect('definition' in checked && Object.keys(checked.definition.rewards)).toEqual(['short', 'quality', 'style']);
  });

  it.each([
    ['a misspelt field', 'model: qwen', 'modl: qwen', '12: quality: unknown field "modl"; did you mean "model"?'],
    [
      'a misspelt kind',
      'command: [node',
      'comand: [node',
      '19: style: expected a number (the weight of a component that reward.ts gives) or one of command, http, judge, classifier, encoder, got "comand"; did you mean "command"?',
    ],
    [
      'another word for a kind',
      'command: [node, style.mjs]',
      'url: https://a.example',
      '19: style: expected a number (the weight of a component that reward.ts gives) or one of command, http, judge, classifier, encoder, got "url"; did you mean "http"?',
    ],
    [
      'two kinds',
      '    command:',
      '    http: https://a.example\n    command:',
      '19: style: expected one kind of reward, got command and http',
    ],
    [
      'a field of the wrong type',
      'scale: [0, 5]',
      'retries: often',
      '16: quality: "retries": expected a number, got "often"',
    ],
    ['a weight in words', 'weight: 2', 'weight: much', '10: quality: "weight": expected a number, got "much"'],
    ['no weight', '    weight: 1\n', '', '17: style: "weight" is missing: expected a number'],
    [
      'a text',
      'short: 0.5',
      'short: half',
      '8: "rewards.short": expected a number (its weight) or an object with a kind of reward, got "half"',
    ],
    [
      'a field that records lack',
      'Question: {question}',
      'Question: {qestion}',
      '14: quality: "rubric" names {qestion}, which is not in "fields"; did you mean "question"?',
    ],
    [
      'a rubric without the completion',
      'Answer: {completion}',
      'Answer:',
      '13: quality: expected "rubric" to contain {completion}, which it is about',
    ],
    [
      'a scale upside down',
      '[0, 5]',
      '[5, 0]',
      '16: quality: "scale": expected the lowest and then the highest score, such as [1, 10]',
    ],
    [
      'a file elsewhere',
      'command: [node, style.mjs]',
      'command: [node]\n    files: [../x.py]',
      '20: style: "files": expected a file of the task\'s folder, got "../x.py"',
    ],
    ['no program', '[node, style.mjs]', '[""]', '19: style: "command": expected a program and its arguments'],
  ])('reports %s with its line', (_, from, to, fault) => {
    expect(reasons(judged.replace(from, to))).toEqual([expect.stringContaining(fault)]);
  });

  it('takes a rubric about all completions of a prompt, unless {completions} is a field of the record', () => {
    const ranking = judged.replace('{completion}', '{completions}');
    expect(reasons(ranking)).toEqual([]);
    expect(reasons(ranking.replace('question: text', 'question: text\n  completions: list'))).toEqual([
      expect.stringContaining('expected "rubric" to contain {completion}'),
    ]);
  });

  it('refuses plain http to another machine unless task.yaml says it too', () => {
    const plain = judged.replace('http://127.0.0.1:11434/v1', 'http://judge.example/v1');
    expect(reasons(plain)).toEqual([expect.stringMatching(/^11: quality: .*plain http on another machine/)]);
    expect(reasons(plain.replace('model: qwen', 'model: qwen\n    allow_plain_http: true'))).toEqual([]);
    expect(reasons(judged.replace('model: qwen', 'model: qwen\n    allow_plain_http: true'))).toEqual([
      '13: quality: "allow_plain_http" is for plain http on another machine only',
    ]);
  });
});
