import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../main/tasks/folder/definition.ts';

const good = `title: Capitals
fields:
  question: text
  answer: text
  hint: text?
prompt: |
  {hint}
  Question: {question}
target: '{answer}'
rewards:
  right: 1
  brief: 0.2
success_threshold: 1
check: kind
show: beside
`;

const faultOf = (text: string): string => {
  try {
    parseDefinition('task.yaml', text);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('parseDefinition', () => {
  it('reads a whole file and fills in what may be left out', () => {
    expect(parseDefinition('task.yaml', good)).toMatchObject({
      fields: { question: 'text', hint: 'text?' },
      rewards: { right: 1, brief: 0.2 },
      check: 'kind',
      highest_reward: null,
      time_limit_ms: 1000,
      memory_limit_mb: 32,
    });
    const short = 'title: T\nfields: { q: text }\nprompt: "{q}"\nmax_completion_length: 5\nsuccess_threshold: 1\n';
    expect(parseDefinition('task.yaml', short)).toMatchObject({ rewards: { reward: 1 }, show: 'plain' });
  });

  it.each([
    [
      'an unknown field',
      good.replace('rewards:', 'rewrds:'),
      'line 10: unknown field "rewrds"; did you mean "rewards"?',
    ],
    [
      'a name of other tools',
      good.replace('check: kind', 'system_prompt: x'),
      'line 14: unknown field "system_prompt"; did you mean "system"?',
    ],
    [
      "a template's unknown field",
      good.replace('{question}', '{qestion}'),
      'line 8: "prompt" names {qestion}, which is not in "fields"; did you mean "question"?',
    ],
    ["a target's unknown field", good.replace('{answer}', '{reply}'), 'line 9: "target" names {reply}'],
    [
      'an unknown type',
      good.replace('answer: text', 'answer: string'),
      'line 4: "fields": expected one of text, text?, number, number?',
    ],
    [
      'an unknown look',
      good.replace('beside', 'besides'),
      'line 15: "show": expected one of aligned, beside, plain, json, code, got "besides"',
    ],
    [
      'a text for a number',
      good.replace('success_threshold: 1', 'success_threshold: high'),
      'line 13: "success_threshold": expected a number, got "high"',
    ],
    ['no prompt', good.replace(/prompt: [\s\S]*target/, 'target'), 'expected "prompt" or "messages"'],
    ['no length', good.replace(/target.*\n/, ''), 'expected "max_completion_length" in tokens'],
    ['a missing threshold', good.replace(/success_threshold.*\n/, ''), '"success_threshold": expected a number'],
    ['no components', good.replace(/rewards:\n.*\n.*\n/, 'rewards: {}\n'), 'line 10: expected at least one component'],
    [
      'both forms of a prompt',
      `${good}messages: [{ role: user, content: hi }]\n`,
      'line 16: expected either "prompt" or "messages"',
    ],
    [
      'an answer as last message',
      good.replace(/prompt: [\s\S]*target/, 'messages:\n  - { role: assistant, content: hi }\ntarget'),
      'line 6: expected the last message to be of the user',
    ],
    ['broken YAML', good.replace('fields:', 'fields: ['), 'task.yaml, line '],
  ])('names the line of %s', (_, text, fault) => {
    expect(faultOf(text)).toContain(fault);
  });
});
