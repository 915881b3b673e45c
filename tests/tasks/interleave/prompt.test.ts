import { describe, expect, it } from 'vitest';
import { checkTemplate, processTemplate, renderPrompt } from '../../../main/tasks/interleave/prompt.ts';

describe('processTemplate', () => {
  it('is the process framing, on four lines', () => {
    expect(renderPrompt(processTemplate, { fragment_a: 'one two', fragment_b: 'red blue', words: 2 })).toBe(
      [
        'You are running two processes in parallel, and each one keeps its own state: its place in its own text.',
        'Process A reads: one two',
        'Process B reads: red blue',
        'Output one word from process A, then the next word from process B, in turn, until both are finished. Do this all in one turn. Output:',
      ].join('\n'),
    );
  });

  it('passes its own check and has a name and version', () => {
    expect(checkTemplate(processTemplate)).toMatchObject({ name: 'process', version: 1 });
  });
});

describe('renderPrompt', () => {
  it('puts fragments in verbatim, placeholders and dollar signs within them included', () => {
    const template = { name: 't', version: 1, text: '{words}|{fragment_a}|{fragment_b}|{fragment_a}' };
    expect(renderPrompt(template, { fragment_a: '{fragment_b} $&', fragment_b: '$1', words: 2 })).toBe(
      '2|{fragment_b} $&|$1|{fragment_b} $&',
    );
  });
});

describe('checkTemplate', () => {
  const text = '{fragment_a} {fragment_b}';
  it.each([
    [{ name: 't', version: 1, text: 'Only {fragment_a}.' }, 'got none of {fragment_b}'],
    [{ name: 't', version: 1, text: 'Nothing.' }, 'got none of {fragment_a}, {fragment_b}'],
    [{ name: 't', version: 1, text: `${text} {fragment_c}` }, 'and {words}, got {fragment_c}'],
    [{ name: ' ', version: 1, text }, 'to have a name'],
    [
      { name: 't', version: 0, text },
      'Prompt template "t": expected "version" to be a whole number of at least 1, got 0',
    ],
  ])('refuses %j', (template, message) => {
    expect(() => checkTemplate(template)).toThrow(message);
  });
});
