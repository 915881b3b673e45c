import { describe, expect, it } from 'vitest';
import { countSourceWords, sourceWords } from '../../main/text/source-words.ts';
import { splitWords } from '../../main/text/words.ts';

describe('sourceWords', () => {
  it.each([
    ['春天的早晨，小河边的柳树发出了嫩芽。', '春天 的 早晨， 小河 边 的 柳树 发出 了 嫩芽。'],
    ['吾輩は猫である。「コーヒー」を飲む', '吾輩 は 猫 で ある。 「コーヒー」 を 飲む'],
    ['วันนี้อากาศดีมาก', 'วัน นี้ อากาศ ดี มาก'],
    ['ខ្ញុំស្រឡាញ់ភាសាខ្មែរ។', 'ខ្ញុំ ស្រឡាញ់ ភាសាខ្មែរ។'],
    ['ຂ້ອຍມັກກິນເຂົ້າ', 'ຂ້ອຍ ມັກ ກິນເຂົ້າ'],
    ['ကျွန်တော်မြန်မာစာဖတ်တယ်။', 'ကျွန်တော် မြန်မာ စာ ဖတ် တယ်။'],
    ['བོད་ཡིག་ནི།', 'བོད་ ཡིག་ ནི།'],
    ['我用Python写（很好）state-of-the-art的f(x)。', '我 用 Python 写 （很好） state-of-the-art 的 f(x)。'],
    ['“你好”，他说 an English word 😀 今天😀', '“你好”， 他 说 an English word 😀 今天😀'],
    ['……', '……'],
    ['今天（', '今天（'],
    ['한국어는 띄어쓰기가 있다', '한국어는 띄어쓰기가 있다'],
  ])('of %s are %s', (text, words) => {
    expect(sourceWords(text).join(' ')).toBe(words);
    expect(splitWords(words)).toEqual(sourceWords(text));
    expect(sourceWords(words)).toEqual(sourceWords(text));
  });

  it('are those of splitWords in scripts with spaces', () => {
    const text = "don't stop—now, «Привет, мир»  नमस्ते दुनिया مرحبا (f(x)) naïve\u00a0x";
    expect(sourceWords(text)).toEqual(splitWords(text));
  });

  it('loses no character, and takes a long text without spaces', () => {
    const text = '春天的早晨，小河边。'.repeat(20_000);
    expect(sourceWords(text).join('')).toBe(text);
    expect(countSourceWords(text)).toBe(5 * 20_000);
  });
});
