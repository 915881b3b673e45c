import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const renderer = join(import.meta.dirname, '../../renderer');
const read = (file: string): string => readFileSync(join(renderer, file), 'utf8');
const classesIn = (css: string): readonly string[] =>
  [...css.replaceAll(/:global\([^)]*\)|\/\*.*?\*\//gs, '').matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = '']) => name);

describe("a screen's styles", () => {
  // A module's class names are local: `.mono` in one is not the global `.mono`, and would style nothing.
  it('refer to global classes with :global', () => {
    const shared = new Set(classesIn(read('theme/tokens.css')));
    const lost = globSync('**/*.module.css', { cwd: renderer }).flatMap((file) => {
      const folder = globSync(`${join(file, '..')}/*.tsx`, { cwd: renderer })
        .map(read)
        .join('\n');
      const own = (name: string): boolean => new RegExp(`\\w\\.${name}\\b`).test(folder);
      return classesIn(read(file)).flatMap((name) => (shared.has(name) && !own(name) ? [`${file}: .${name}`] : []));
    });
    expect(lost).toEqual([]);
  });
});
