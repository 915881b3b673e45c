import { describe, expect, it } from 'vitest';
import * as host from '../../../main/text/source-words.ts';
import { splitWords as hostWords } from '../../../main/text/words.ts';
import { countSourceWords, splitWords } from '../../../renderer/components/words.ts';

describe('words on a page', () => {
  it.each([
    '',
    'one two\u00a0three \u200b four\u0085five \ufeff',
    '春天的早晨，小河边的柳树发出了嫩芽。 an English word',
    '我用Python写（很好）state-of-the-art的f(x)。……',
    '吾輩は猫である。「コーヒー」を飲む',
    'วันนี้อากาศดีมาก 한국어는 있다',
  ])('are those of the host: %j', (text) => {
    expect(splitWords(text)).toEqual(hostWords(text));
    expect(countSourceWords(text)).toBe(host.countSourceWords(text));
  });
});
