import { describe, expect, it } from 'vitest';
import { describeFault } from '../../../main/io/text-file.ts';
import { parseTexts } from '../../../main/services/texts/parse.ts';

const texts = (file: string, content: string) => parseTexts(file, content).texts;
const faults = (file: string, content: string) => parseTexts(file, content).faults.map(describeFault);

describe('parseTexts of JSON', () => {
  it('takes a list of objects', () => {
    const content = JSON.stringify([
      { id: 'a', title: 'First', text: 'one two', source: 'book' },
      { id: 7, text: 'three four five six seven eight nine' },
    ]);
    expect(texts('dir/t.json', content)).toEqual([
      { id: 'a', title: 'First', text: 'one two', source: 'book' },
      {
        id: '7',
        title: 'three four five six seven eight …',
        text: 'three four five six seven eight nine',
        source: 't.json',
      },
    ]);
  });

  it('takes a list of strings and a map of titles', () => {
    expect(texts('t.json', '["one two", "three"]')).toEqual([
      { id: 'one-two', title: 'one two', text: 'one two', source: 't.json' },
      { id: 'three', title: 'three', text: 'three', source: 't.json' },
    ]);
    expect(texts('t.json', '{"Caf\u00e9 & Co": "one", "\u672c": {"text": "two", "source": "s"}}')).toEqual([
      { id: 'cafe-co', title: 'Caf\u00e9 & Co', text: 'one', source: 't.json' },
      { id: expect.stringMatching(/^text-[0-9a-f]{8}$/), title: '\u672c', text: 'two', source: 's' },
    ]);
  });

  it('takes one text alone, and a list under "texts"', () => {
    expect(texts('t.json', '{"title": "T", "text": "one"}')).toMatchObject([{ title: 'T', text: 'one' }]);
    expect(texts('t.json', '{"texts": [{"title": "T", "text": "one"}]}')).toMatchObject([{ title: 'T', text: 'one' }]);
  });

  it.each([
    ['[\n "one",\n "two"\n "three"\n]', 't.json, line 4: not JSON: expected "," or "]", got """'],
    ['["one", ', 't.json, line 1: not JSON: expected a value, got the end of the file'],
    ['<!doctype html>\n', 't.json, line 1: not JSON: expected a value, got "<"'],
    ['[\n {"text": "one"},\n {"title": "T"}\n]', 't.json, line 3: expected "text" to be a string, got nothing'],
    ['[\n "one",\n 5]', 't.json, line 3: expected a text or an object with a "text", got 5'],
    ['{"a": "one",\n"b": 5}', 't.json, line 2: expected the text of "b" to be a string, got 5'],
    ['["one",\n" "]', 't.json, line 2: expected a text with words, got an empty one'],
    ['["\\ud800 x"]', 't.json, line 1: expected valid Unicode, got a lone surrogate'],
    ['[{"text": "one", "title": 5}]', 't.json, line 1: expected "title" to be a string, got 5'],
    ['[{"text": "one", "id": []}]', 't.json, line 1: expected "id" to be a string, got []'],
    ['5', 't.json, line 1: expected a list of texts or {title: text}, got 5'],
    ['[]', 't.json, line 1: expected at least one text, got an empty list'],
    ['{}', 't.json: expected at least one text, got none'],
    [' \n', 't.json: expected texts, got an empty file'],
  ])('names file, line and reason for %j', (content, fault) => {
    expect(faults('t.json', content)).toEqual([fault]);
  });

  it('names every fault', () => {
    expect(faults('t.json', '[1,\n2,\n"three"]')).toHaveLength(2);
  });
});

describe('parseTexts of JSONL', () => {
  it('takes strings and objects, blank lines and Windows line ends', () => {
    expect(texts('t.jsonl', '"one"\r\n\r\n{"title": "T", "text": "two"}\r\n')).toMatchObject([
      { text: 'one' },
      { title: 'T', text: 'two' },
    ]);
  });

  it('names the bad lines', () => {
    expect(faults('t.jsonl', '"one"\n{"text": "two"\n\n{"txt": "three"}\n')).toEqual([
      't.jsonl, line 2: not JSON: expected "," or "}", got the end of the line at column 15',
      't.jsonl, line 4: expected "text" to be a string, got nothing',
    ]);
  });
});

describe('parseTexts of prose', () => {
  it('takes a .txt file as one text, titled by its name', () => {
    expect(texts('a/My Story.TXT', '  Once.\n\nTwice.\n')).toEqual([
      { id: 'my-story', title: 'My Story', text: 'Once.\n\nTwice.', source: 'My Story.TXT' },
    ]);
  });

  it('takes the first heading of a .md file as its title', () => {
    expect(texts('a.md', '---\ndate: x\n---\n\n# The *Ferry*\n\nIt **left**.\n')).toMatchObject([
      { title: 'The Ferry', text: 'It left.' },
    ]);
    expect(texts('note.md', 'No heading here.')).toMatchObject([{ title: 'note', text: 'No heading here.' }]);
  });

  it('takes HTML, and the HTML of a Word document, as the text that it shows', () => {
    const html = `<!doctype html><html><head><title>The Ferry &amp; I</title><style>p { color: red }</style></head>
      <body><nav><a href="/">Home</a></nav><h1>The Ferry &amp; I</h1>
      <p>It <b>left</b>&nbsp;&mdash; at
      noon.<br>We saw.</p><script>let x = '<p>';</script><div hidden>No</div>
      <ul><li>one<li>two</ul><table><tr><th><p>a</p></th><td></td><td><div>b</div></td></tr><tr><td>c<td><p>d</p><p>e</p></table><ruby>漢字<rt>かんじ</rt></ruby></body></html>`;
    const text = 'It left — at noon.\nWe saw.\n\none\ntwo\n\na b\nc d\n\ne\n\n漢字';
    expect(texts('a.html', html)).toMatchObject([{ title: 'The Ferry & I', text }]);
    expect(texts('My notes.docx', '<h1>Title</h1><p>Words.</p>')).toMatchObject([{ title: 'Title', text: 'Words.' }]);
    expect(texts('x.htm', '<p>Words')).toMatchObject([{ title: 'x', text: 'Words' }]);
    expect(texts('x.htm', '<body><nav>Home <p>Words</body>')).toMatchObject([{ text: 'Home Words' }]);
    expect(faults('x.htm', '<script>1</script>')).toEqual([
      'x.htm, line 1: expected a text with words, got an empty one',
    ]);
  });

  it('writes texts in one form, so that copies are equal', () => {
    expect(texts('a.txt', '\ufeffTh\u00ade caf\u0065\u0301\u00a0of \ufb01re \u200b now')).toMatchObject([
      { text: 'The caf\u00e9 of fire  now' },
    ]);
    expect(texts('a.json', '["\\u200bo\\u00adne"]')).toMatchObject([{ title: 'one', text: 'one' }]);
    expect(faults('a.json', '["\\u200b \\u00ad"]')).toHaveLength(1);
  });

  it('titles a text without spaces between words by its first words', () => {
    expect(texts('a.json', '["春天的早晨，小河边的柳树发出了嫩芽。"]')).toMatchObject([
      { title: '春天的早晨，小河边的 …' },
    ]);
  });

  it('rejects other kinds of file, and says what to do', () => {
    const types = '.txt, .md, .html, .docx, .pdf, .json or .jsonl';
    expect(faults('README', 'x')).toEqual([`README: expected a ${types} file, got ""`]);
    expect(faults('a.xyz', 'x')).toEqual([`a.xyz: expected a ${types} file, got ".xyz"`]);
    expect(faults('a.odt', 'x')).toEqual(["a.odt: can't read an OpenDocument text (.odt); save it as .docx or .txt"]);
  });
});
