import { describe, expect, it } from 'vitest';
import { titlesOf } from '../../../../main/services/comparisons/paired/view.ts';

describe('titlesOf', () => {
  it('takes what the user said last of a conversation', () => {
    const messages = [
      { role: 'system', content: 'Answer in one word.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi!' },
      { role: 'user', content: 'What is the\n capital of Poland?' },
      { role: 'assistant', content: 'Warsaw' },
    ] as const;
    const record = { id: 'a', prompt: 'User: Hello', messages };
    expect(titlesOf({ quoted: () => ['content', 'Hello'] } as never, record as never)).toEqual([
      'What is the capital of Poland?',
      '',
    ]);
    const plain = { quoted: () => ['one text', 'another'] } as never;
    expect(titlesOf(plain, { id: 'a', prompt: 'p' } as never)).toEqual(['one text', 'another']);
  });
});
