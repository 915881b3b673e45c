import { describe, expect, it } from 'vitest';
import { pairLines, takesColour } from '../../main/commands/pairs.ts';

const pair = { target: 'one red two blue', before: 'red blue one two', after: 'one red two blue' };

describe('pairLines', () => {
  it('marks wrong and missing words and says both scores', () => {
    const [head, , before, after] = pairLines([{ ...pair, before: 'one green two' }], 80, false);
    expect(head).toContain('[wrong], (missing)');
    expect(before).toBe('before  0.50  one [green] two (blue)');
    expect(after).toBe('after   1.00  one red two blue');
  });

  it('gives the words of each text their colour, and wrong ones red', () => {
    const [, , before, after] = pairLines([{ ...pair, before: 'one green two blue' }], 80, true);
    expect(before).toContain('\x1b[36mone\x1b[0m \x1b[31mgreen\x1b[0m \x1b[36mtwo\x1b[0m \x1b[33mblue\x1b[0m');
    expect(after).toContain('\x1b[36mone\x1b[0m \x1b[33mred\x1b[0m');
  });

  it('wraps at the width below the first word, whatever the colours add', () => {
    const texts = (colour: boolean): string[] => pairLines([pair], 24, colour).slice(-2);
    expect(texts(false)).toEqual(['after   1.00  one red', '              two blue']);
    expect(texts(true)[0]).toContain('after   1.00  \x1b[36mone');
  });
});

describe('takesColour', () => {
  it('is for terminals, unless NO_COLOR says otherwise', () => {
    expect(takesColour({ isTTY: true }, {})).toBe(true);
    expect(takesColour({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
    expect(takesColour({ isTTY: false }, {})).toBe(false);
  });
});
