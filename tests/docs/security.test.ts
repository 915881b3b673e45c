import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

describe('docs/security.md', () => {
  it('names tests that are there', () => {
    const text = readFileSync(join(root, 'docs/security.md'), 'utf8');
    const named = [...new Set(text.match(/\btests\/[\w./-]+/g))];
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
