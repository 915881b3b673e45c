import { describe, expect, it } from 'vitest';
import { countHeadings, fittingRule, splitAtHeadings } from '../../../main/services/texts/headings.ts';
import { splitWords } from '../../../main/text/words.ts';

const body = (word: string, count = 30): string => Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ');

const BOOK = [
  'A preface of a few words.',
  'CHAPTER I',
  body('river'),
  'Chapter 2: The hill',
  `${body('hill')}\n\n${body('stone')}`,
  'Epilogue',
  body('sea'),
].join('\n\n');

const outline = (text: string, rule: Parameters<typeof splitAtHeadings>[1], minWords = 5) =>
  splitAtHeadings(text, rule, minWords).map(({ heading, words }) => [heading, words]);

describe('splitAtHeadings', () => {
  it('splits at chapters, and names what comes before the first', () => {
    expect(outline(BOOK, 'chapters')).toEqual([
      [null, 6],
      ['CHAPTER I', 30],
      ['Chapter 2: The hill', 60],
      ['Epilogue', 30],
    ]);
  });

  it('adds short pieces to the next one with their headings, and a short end to the one before', () => {
    const text = ['# One', body('a'), '## Short', 'two words', '## Two', body('b'), '# End', 'so it ends'].join('\n');
    expect(outline(text, 'markdown-2', 10)).toEqual([
      ['One', 30],
      ['Two', 37],
    ]);
    expect(splitAtHeadings(text, 'markdown-2', 10)[1]?.text).toMatch(
      /^Short\n\ntwo words\n\nb0 [\s\S]*End\n\nso it ends$/,
    );
  });

  it('reads Markdown headings by level, underlined ones too, and not those in code', () => {
    const text = [
      'Title',
      '=====',
      body('a'),
      '## Two ##',
      body('b'),
      '```',
      '# a comment',
      '```',
      '### C#',
      body('c'),
    ];
    expect(countHeadings(text.join('\n'))).toMatchObject({ 'markdown-1': 1, 'markdown-2': 2, 'markdown-3': 3 });
    expect(outline(text.join('\n'), 'markdown-3').map(([heading]) => heading)).toEqual(['Title', 'Two', 'C#']);
  });

  it.each([
    ['capitals', 'THE RIVER', 'The river'],
    ['lines', 'The river', 'the river was wide.'],
    ['lines', 'Where does it flow?', 'It flows,'],
    ['chapters', 'XII.', 'I was'],
    ['chapters', 'Erstes Kapitel', 'The chapter'],
  ] as const)('tells a heading by %s: %s, not %s', (rule, heading, other) => {
    const text = [heading, body('a'), other, body('b')].join('\n\n');
    expect(outline(text, rule).map(([title]) => title)).toEqual([heading]);
  });

  it.each(['chapters', 'capitals', 'lines', 'markdown-3'] as const)('loses no word by %s', (rule) => {
    const pieces = splitAtHeadings(BOOK, rule, 12);
    const words = pieces.flatMap(({ heading, text }) => splitWords(`${heading ?? ''} ${text}`));
    expect(words.toSorted()).toEqual(splitWords(BOOK).toSorted());
  });
});

describe('fittingRule', () => {
  it('takes the first rule with two headings', () => {
    expect(fittingRule(`# Title\n\n${BOOK}`)).toBe('chapters');
    expect(fittingRule('# One\na\n# Two\nb')).toBe('markdown-1');
    expect(fittingRule(body('word'))).toBe(null);
  });
});
