import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const file = new URL('../../package-lock.json', import.meta.url);
const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
};

describe('package-lock.json', () => {
  it('has a digest for every package: npm installs one without it unchecked', () => {
    const others = Object.entries(packages).filter(([path]) => path !== '');
    expect(others.length).toBeGreaterThan(400);
    expect(others.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([]);
  });
});
