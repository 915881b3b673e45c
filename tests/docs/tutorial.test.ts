/** The tutorial names buttons, tabs and screens as the app does. tests/e2e/story.test.ts clicks the same way. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const tutorial = readFileSync(join(root, 'docs/tutorial.md'), 'utf8');

/** Every source of the page on one line: labels may be broken across lines there. */
const renderer = readdirSync(join(root, 'renderer'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(join(root, 'renderer', name), 'utf8'))
  .join('\n')
  .replaceAll('&amp;', '&')
  .replaceAll(/\s+/g, ' ');

/** As an element's text, an attribute or a string. */
const isLabel = (label: string): boolean =>
  [`> ${label} <`, `>${label}<`, `"${label}"`, `'${label}'`].some((text) => renderer.includes(text));

describe('the tutorial', () => {
  const labels = [...new Set([...tutorial.matchAll(/\*\*(.+?)\*\*/g)].map(([, label = '']) => label))];

  it('names enough of the app for this to mean something', () => {
    expect(labels.length).toBeGreaterThan(15);
    expect(isLabel('Start stages')).toBe(false);
  });

  it.each(labels)('says "%s", and so does the app', (label) => {
    expect(isLabel(label)).toBe(true);
  });
});
