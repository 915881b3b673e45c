import { describe, expect, it } from 'vitest';
import { latinKey } from '../../../renderer/frame/latin-key.ts';

const press = (key: string, code: string, shiftKey = false): string => latinKey({ key, code, shiftKey });

describe('latinKey', () => {
  it('is the letter in the same place where a layout writes another script', () => {
    expect([press('о', 'KeyJ'), press('ن', 'KeyK'), press('Ы', 'KeyS', true)]).toEqual(['j', 'k', 'S']);
    expect([press('х', 'BracketLeft'), press('б', 'Comma')]).toEqual(['[', ',']);
  });

  it('is the key itself on every Latin keyboard, whatever its place', () => {
    expect([press('a', 'KeyQ'), press('ö', 'Semicolon'), press('?', 'Digit7', true), press('.', 'Slash')]).toEqual([
      ...['a', 'ö', '?', '.'],
    ]);
    expect([press('ArrowLeft', 'ArrowLeft'), press('Dead', 'BracketLeft')]).toEqual(['ArrowLeft', 'Dead']);
  });
});
