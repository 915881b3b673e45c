import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const renderer = resolve(import.meta.dirname, '../../renderer');

/** Import statements of a file that reach into main/ and would bring code of the host into the page. */
function hostImports(file: string): string[] {
  const statements = readFileSync(file, 'utf8').match(/^import[^;]*from '[^']*\/main\/[^']*';/gms) ?? [];
  return statements.filter((statement) => !statement.startsWith('import type '));
}

describe('the page', () => {
  it("imports the contract and the services' results as types only", () => {
    const files = readdirSync(renderer, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap((name) => hostImports(join(renderer, name)).map((text) => `${name}: ${text}`))).toEqual([]);
  });
});
