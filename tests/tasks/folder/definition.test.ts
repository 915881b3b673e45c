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

  it('reads an environment, and what is wrong with one', () => {
    const game = `title: G\nfields: { q: text }\nprompt: "{q}"\nmax_completion_length: 50\nsuccess_threshold: 1\n`;
    const played = parseDefinition('task.yaml', `${game}environment: { max_turns: 3 }\n`);
    expect(played.environment).toEqual({ max_turns: 3, server: null });
    expect(faultOf(`${game}environment:\n  max_turn: 3\n`)).toContain(
      'line 6: environment: unknown field "max_turn"; did you mean "max_turns"?',
    );
    expect(faultOf(`${game}environment:\n  max_turns: 3\n  max_turn_token: 8\n`)).toContain(
      'line 6: environment: unknown field "max_turn_token"; did you mean "max_turn_tokens"?',
    );
    expect(faultOf(`${game}environment: { max_turns: 0 }\n`)).toContain('"max_turns": expected at least 1, got 0');
    expect(faultOf(`${game}environment: {}\n`)).toContain('line 6: environment: "max_turns" is missing: expected');
    expect(faultOf(`${game}max_tool_calling_iterations: 3\n`)).toContain('did you mean "environment"?');
    const endless = game.replace(/max_completion.*\n/, 'target: "{q}"\n');
    expect(faultOf(`${endless}environment: { max_turns: 3 }\n`)).toContain('expected "max_completion_length" beside');
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
      'line 4: "fields.answer": expected one of text, text?, number, number?',
    ],
    [
      'a misspelt type',
      good.replace('answer: text', 'answer: txt'),
      'object?, messages, messages?, got "txt"; did you mean "text"?',
    ],
    [
      'each of several faults at its line',
      good.replace('rewards:', 'rewrds:').replace('check:', 'chek:').replace('answer: text', 'answer: string'),
      'line 14: unknown field "chek"; did you mean "check"?',
    ],
    [
      'an unknown look',
      good.replace('beside', 'besides'),
      'line 15: "show": expected one of aligned, beside, plain, json, code, got "besides"; did you mean "beside"?',
    ],
    [
      'a text for a number',
      good.replace('success_threshold: 1', 'success_threshold: high'),
      'line 13: "success_threshold": expected a number, got "high"',
    ],
    [
      'no prompt',
      `# My task\n${good.replace(/prompt: [\s\S]*target/, 'target')}`,
      'line 2: expected "prompt" or "messages": what the model is given, for example `prompt: \'{question}\'`',
    ],
    ['no length', good.replace(/target.*\n/, ''), 'line 1: expected "max_completion_length" in tokens, for example'],
    [
      'a missing threshold',
      good.replace(/success_threshold.*\n/, ''),
      'line 1: "success_threshold" is missing: expected a number, for example `success_threshold: 1`',
    ],
    ['missing fields', good.replace(/fields:[\s\S]*prompt/, 'prompt'), 'line 1: "fields" is missing: expected fields'],
    [
      'a field that a message lacks',
      good.replace(/prompt: [\s\S]*target/, 'messages:\n  - role: system\n    content: Hi\n  - role: user\ntarget'),
      'line 9: "messages.1.content" is missing: expected a text',
    ],
    [
      'a field that a component lacks',
      good.replace('right: 1', 'right: { weight: 1, judge: "http://127.0.0.1:1/v1", rubric: x }'),
      'line 11: right: "model" is missing: expected a text',
    ],
    [
      'a weight that is not a number',
      good.replace('brief: 0.2', 'brief: .nan'),
      'line 12: "rewards.brief": expected a number',
    ],
    [
      'a field called messages',
      good.replace('hint: text?', 'hint: text?\n  messages: list'),
      'line 6: only a conversation can',
    ],
    ['a field called prompt', good.replace('hint: text?', 'hint: text?\n  prompt: text'), 'line 6: expected `prompt:'],
    ['a second document', `${good}---\ntitle: more\n`, 'expected one document, got another one'],
    [
      'a misspelt field of a message',
      good.replace(/prompt: [\s\S]*target/, 'messages:\n  - { role: user, contnt: hi }\ntarget'),
      'unknown field "contnt"; did you mean "content"?',
    ],
    ['an empty file', '', 'task.yaml, line 1: '],
    [
      'a component with the name of the whole reward',
      good.replace('brief: 0.2', 'reward: 0.2'),
      'line 12: "reward" beside other components is what evaluations call',
    ],
    [
      'a check with that name',
      good.replace('check: kind', 'check: success'),
      'line 14: a check called "success" is what',
    ],
    [
      'a check with the name of a component',
      good.replace('check: kind', 'check: brief'),
      'a check called "brief" would be confused',
    ],
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

  it('reports a misspelt field once', () => {
    expect(faultOf(good.replace('title:', 'titel:'))).toBe(
      'task.yaml, line 1: unknown field "titel"; did you mean "title"?',
    );
    expect(faultOf(good.replace('success_threshold:', 'threshold:'))).toBe(
      'task.yaml, line 13: unknown field "threshold"; did you mean "success_threshold"?',
    );
  });
});
