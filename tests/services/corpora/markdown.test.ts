import { describe, expect, it } from 'vitest';
import { plainText, readMarkdown } from '../../../main/services/corpora/markdown.ts';

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

  it('has no title without a heading', () => {
    expect(readMarkdown('just text')).toEqual({ title: undefined, text: 'just text' });
  });
});
