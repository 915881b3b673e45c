import { describe, expect, it } from 'vitest';
import { jsonPlaces } from '../../main/io/json-places.ts';
import { randomStream } from '../../main/random.ts';

describe('jsonPlaces', () => {
  it.each([
    ['', 0, 'expected a value, got the end of the file'],
    ['[1, 2', 5, 'expected "," or "]", got the end of the file'],
    ['[1 2]', 3, 'expected "," or "]", got "2"'],
    ['[1,]', 3, 'expected a value, got "]"'],
    ['[,1]', 1, 'expected a value or "]", got ","'],
    ['{"a" 1}', 5, 'expected ":", got "1"'],
    ['{"a": 1,}', 8, 'expected a key in quotation marks, got "}"'],
    ['{a: 1}', 1, 'expected a key in quotation marks or "}", got "a"'],
    ['{"a": }', 6, 'expected a value, got "}"'],
    ['{"a": 1]', 7, 'expected "," or "}", got "]"'],
    ['["a\nb"]', 3, 'expected a closing quotation mark, got a line break or control character'],
    ['["abc', 1, 'expected a closing quotation mark, got the end of the file'],
    ['["\\x"]', 2, 'expected an escape such as \\n or \\", got "\\x"'],
    ['[1] 2', 4, 'expected the end of the file, got "2"'],
    ['<html>', 0, 'expected a value, got "<"'],
    ['[\u{1f410}]', 1, 'expected a value or "]", got "\u{1f410}"'],
  ])('finds the fault of %j', (text, offset, reason) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(jsonPlaces(text).fault).toEqual({ offset, reason });
  });

  it('finds none in valid JSON, and where the outermost items start', () => {
    expect(jsonPlaces('[1, [2, "x"], {"a": []}, "s", -1.5e3, null]')).toEqual({
      fault: null,
      items: [1, 4, 14, 25, 30, 38],
    });
    expect(jsonPlaces('{"a": {"b": 1}, "c\\"": 2}')).toEqual({ fault: null, items: [1, 16] });
    expect(jsonPlaces(' [ ] ')).toEqual({ fault: null, items: [] });
    expect(jsonPlaces('{"a": "b', 'line').fault?.reason).toBe(
      'expected a closing quotation mark, got the end of the line',
    );
    expect(jsonPlaces('"\\u00e9"')).toEqual({ fault: null, items: [] });
  });

  it('agrees with JSON.parse on what is JSON', () => {
    const sound = '[{"a": [1, 2.5, -3e2], "b\\n": "x\\"y"}, null, true, [], {}]';
    const parses = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    for (let i = 0; i < 2000; i++) {
      const stream = randomStream(5, i);
      const at = stream.below(sound.length);
      const put = '[]{},:"\\0 -.e'[stream.below(13)] ?? '';
      const text = sound.slice(0, at) + put + sound.slice(at + stream.below(3));
      expect([text, jsonPlaces(text).fault === null]).toEqual([text, parses(text)]);
    }
  });

  it('goes as deep as values may, and says where they go deeper', () => {
    expect(jsonPlaces(`${'['.repeat(500)}${']'.repeat(500)}`).fault).toBeNull();
    const { fault } = jsonPlaces('['.repeat(200_000));
    expect(fault).toEqual({ offset: 500, reason: expect.stringContaining('at most 500 levels') });
  });
});
