import { describe, expect, it } from 'vitest';
import { type AddressWords, checkAddress, isPlain } from '../../main/io/address.ts';

const words: AddressWords = {
  code: 'BAD',
  insecureCode: 'INSECURE',
  what: 'the key',
  password: 'Elsewhere.',
  plain: 'Say it twice.',
};

describe('checkAddress', () => {
  it.each(['https://a.example/x', 'http://127.0.0.1:1', 'http://localhost', 'http://[::1]:3'])('takes %s', (text) => {
    expect(checkAddress(text, false, words).href).toContain(text);
    expect(isPlain(new URL(text))).toBe(false);
  });

  it.each([
    ['http://a.example', 'INSECURE', 'plain http on another machine'],
    ['http://127.0.0.1.a.example', 'INSECURE', 'plain http'],
    ['https://me:secret@a.example', 'BAD', 'without a password'],
    ['ftp://a.example', 'BAD', 'an address such as'],
    ['a.example', 'BAD', 'an address such as'],
  ])('refuses %s', (text, code, message) => {
    expect(() => checkAddress(text, false, words)).toThrow(expect.objectContaining({ code }));
    expect(() => checkAddress(text, false, words)).toThrow(message);
  });

  it('takes plain http where it was allowed', () => {
    expect(checkAddress('http://a.example', true, words).host).toBe('a.example');
  });
});
