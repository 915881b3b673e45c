import { describe, expect, it } from 'vitest';
import { plainText, readMarkdown } from '../../../main/services/texts/markdown.ts';

describe('plainText', () => {
  it.each([
    ['## A heading\n\ntext', 'A heading\n\ntext'],
    ['- one\n* two\n1. three', 'one\ntwo\nthree'],
    ['> quoted\n> > twice', 'quoted\ntwice'],
    ['a **bold** and *slanted* and __strong__ and _soft_ word', 'a bold and slanted and strong and soft word'],
    ['see [the page](http://x.y/z) and ![a picture](p.png)now', 'see the page and now'],
    ['use `code` here', 'use code here'],
    ['```js\ncode\n```', 'code'],
    ['one\n\n---\n\ntwo', 'one\n\ntwo'],
    ['a <!-- hidden --> b', 'a  b'],
    ['2 * 3 * 4, snake_case_name, a * b', '2 * 3 * 4, snake_case_name, a * b'],
    ['one\r\ntwo', 'one\ntwo'],
  ])('of %j is %j', (markdown, text) => {
    expect(plainText(markdown)).toBe(text);
  });
});

describe('readMarkdown', () => {
  it('finds headings of both kinds', () => {
    expect(readMarkdown('intro\n\n# Title #\n\ntext')).toEqual({ title: 'Title', text: 'intro\n\ntext' });
    expect(readMarkdown('Title\n=====\n\ntext')).toEqual({ title: 'Title', text: 'text' });
  });

  it('keeps a # that belongs to a word, and passes over headings that say nothing', () => {
    expect(readMarkdown('# \n\n## C#\n\ntext')).toEqual({ title: 'C#', text: 'text' });
  });

  it('has no title without a heading', () => {
    expect(readMarkdown('just text')).toEqual({ title: undefined, text: 'just text' });
  });
});

describe('a text that is made to be slow', () => {
  const many = (part: string): string => part.repeat(100_000);
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
  ])('is read in time that grows with it: %s', (_, markdown) => {
    const began = performance.now();
    readMarkdown(markdown);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
