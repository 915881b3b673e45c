import { describe, expect, it } from 'vitest';
import { plainText, readMarkdown } from '../../../main/services/texts/markdown.ts';

describe('plainText', () => {
  it.each([
    ['## A heading\n\ntext', 'A heading\n\ntext'],
    ['- one\n* two\n1. three', 'one\ntwo\nthree'],
    ['- one\n  - within\n- two\n\nafter', 'one\nwithin\ntwo\n\nafter'],
    ['- [ ] open\n- [x] done', 'open\ndone'],
    ['> quoted\n> > twice', 'quoted\n\ntwice'],
    ['> [!NOTE]\n> Mind this.', 'Mind this.'],
    ['a **bold** and *slanted* and __strong__ and _soft_ word', 'a bold and slanted and strong and soft word'],
    ['***both*** **bold *in* bold** *over\nlines* ~~gone~~', 'both bold in bold over\nlines gone'],
    ['see [the page](http://x.y/z) and ![a picture](p.png)now', 'see the page and now'],
    [
      '[one](http://x.y/a_(b)) [two][1] [three] <https://x.y>\n\n[1]: http://x.y "T"\n[three]: <z>',
      'one two three https://x.y',
    ],
    ['5&nbsp;pounds &mdash; 3 &lt; 4 &#8364; &amp;amp; &unknown;', '5\u00a0pounds — 3 < 4 € &amp; &unknown;'],
    ['\\*stars\\* 1\\. line\\\nbreak  \nagain', '*stars* 1. line\nbreak\nagain'],
    ['H<sub>2</sub>O<br>next <b>bold</b>', 'H2O\nnext bold'],
    ['<p align="center">\n  <b>Hello</b> there\n</p>\n\n<script>let x = 1;</script>\n\nend', 'Hello there\n\nend'],
    ['| Name | Age |\n|------|-----|\n| Ann  | 41  |\n| `a|b` | |', 'Name Age\nAnn 41\n`a b`'],
    ['Term[^1] ends.\n\n[^1]: The note.\n\nAfter.', 'Term ends.\n\nAfter.\n\nThe note.'],
    ['~one~ H~2~O, about ~5 to ~10, ~/home', 'one H2O, about ~5 to ~10, ~/home'],
    ['use `code` here', 'use code here'],
    ['```js\ncode  x\n\n  <b>&amp;\n```', 'code  x\n\n  <b>&amp;'],
    ['    indented\n      more', 'indented\n  more'],
    ['one\n\n* * *\n\ntwo\n\n---\n\nthree', 'one\n\ntwo\n\nthree'],
    ['a <!-- hidden --> b', 'a b'],
    ['a <!-- no end', 'a <!-- no end'],
    ['Write <title> and <script> first.', 'Write <title> and <script> first.'],
    ['2 * 3 * 4, snake_case_name, a * b, 5 < 6 > 4', '2 * 3 * 4, snake_case_name, a * b, 5 < 6 > 4'],
    ['one\r\ntwo', 'one\ntwo'],
    ['---\ntitle: x\ntags: [a]\n---\n\ntext', 'text'],
    ['+++\ntitle = "x"\n+++\ntext', 'text'],
    ['---\n\nHe said: no front matter.\n\n---\n\ntext', 'He said: no front matter.\n\ntext'],
  ])('of %j is %j', (markdown, text) => {
    expect(plainText(markdown)).toBe(text);
  });
});

describe('readMarkdown', () => {
  const headings = (markdown: string) => readMarkdown(markdown).headings.map(({ level, title }) => [level, title]);

  it('finds headings of both kinds, with their lines', () => {
    expect(readMarkdown('intro\n\n# Title #\n\ntext').headings).toEqual([
      { level: 1, title: 'Title', start: 2, end: 3 },
    ]);
    expect(headings('Title\n=====\n\nSecond\n---\n\ntext')).toEqual([
      [1, 'Title'],
      [2, 'Second'],
    ]);
  });

  it('keeps a # that belongs to a word, and passes over headings that say nothing or stand in code', () => {
    expect(headings('# \n\n## C#\n\n```\n# a comment\n```')).toEqual([[2, 'C#']]);
  });
});

describe('a text that is made to be slow', () => {
  const many = (part: string): string => part.repeat(40_000);
  it.each([
    ['a heading and spaces', `# a${many(' ')}b`],
    ['marks of a heading', `# ${many('#')}x`],
    ['brackets', many('[')],
    ['pictures', many('![')],
    ['links without an end', many('[a](')],
    ['comments without an end', many('<!--')],
    ['strong parts without an end', many('**a ')],
    ['the same by lines below', many('__a ')],
    ['slanted parts without an end', many('*a ')],
    ['code without an end', many('`a\n')],
    ['dashes', `${many('-')}x`],
    ['empty headings', many('# \n')],
    ['short lines', many('a\n')],
    ['tags without an end', many('<!DOCTYPE')],
    ['tables', many('|a|b|\n')],
    ['footnotes', `${many('[^a]')}\n\n[^a]: x`],
  ])('is read in time that grows with it: %s', (_, markdown) => {
    // Of the processor: a busy machine doesn't count.
    const began = process.cpuUsage();
    readMarkdown(markdown);
    const { user, system } = process.cpuUsage(began);
    expect(user + system).toBeLessThan(5_000_000);
  });

  it('is refused if it nests more tags than any page has', () => {
    expect(() => readMarkdown('<b>'.repeat(30_000))).toThrow(/more than 20000 tags within one another/);
  });
});
