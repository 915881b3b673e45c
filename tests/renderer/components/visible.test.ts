import { describe, expect, it } from 'vitest';
import * as host from '../../../main/text/visible.ts';
import { visible } from '../../../renderer/components/visible.ts';

describe('visible', () => {
  it('shows what would reorder a text as the terminal does, and leaves other texts alone', () => {
    const text = 'The answer is \u202e51\u202c, \u2066not\u2069 \u001b[31m';
    expect(visible(text)).toBe(host.visible(text));
    expect(visible(text)).toContain('\\u202e51\\u202c');
    for (const plain of ['שלום\u200f 12', 'می\u200cخواهم', '👩‍👩‍👧‍👦', 'a\r\n\tb']) expect(visible(plain)).toBe(plain);
  });
});
