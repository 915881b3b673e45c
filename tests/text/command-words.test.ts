import { describe, expect, it } from 'vitest';
import { commandWords } from '../../main/text/command-words.ts';

describe('commandWords', () => {
  it.each([
    ['python3 -m game --port {port}', ['python3', '-m', 'game', '--port', '{port}']],
    [' "C:\\Program Files\\py.exe"  game.py ', ['C:\\Program Files\\py.exe', 'game.py']],
    [`env NAME='two words' a"b c"d ""`, ['env', 'NAME=two words', 'ab cd', '']],
    ['', []],
  ])('%s', (line, words) => {
    expect(commandWords(line)).toEqual(words);
  });
});
