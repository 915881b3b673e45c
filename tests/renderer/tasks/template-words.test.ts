import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { templateWords } from '../../../renderer/tasks/template-words.ts';

it('has a sentence for each bundled task, and for no other', () => {
  const folder = resolve(import.meta.dirname, '../../../resources/tasks');
  const bundled = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(Object.keys(templateWords).sort()).toEqual(bundled.map(({ name }) => name).sort());
});
