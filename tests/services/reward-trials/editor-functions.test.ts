import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { textFunctions } from '../../../main/services/reward-trials/editor-functions.ts';
import { textFunctionNames } from '../../../main/tasks/sandbox/text-functions.ts';

const root = resolve(import.meta.dirname, '../../..');

describe('textFunctions', () => {
  const found = textFunctions({ resources: resolve(root, 'resources') });
  // It is the sandbox's own.
  const names = [...textFunctionNames, 'runJavaScript'].sort();

  it('offers what a reward can import, with its type and all of its comment', () => {
    expect(found.map(({ name }) => name).sort(), 'functions of resources/tasks/braid.d.ts').toEqual(names);
    for (const { signature, about } of found) {
      expect(signature).toMatch(/^\(\w.*\): \S/);
      expect(about).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('is what docs/tasks.md lists', () => {
    const [, list = ''] =
      /^It can only import `braid`: (.*?);/m.exec(readFileSync(resolve(root, 'docs/tasks.md'), 'utf8')) ?? [];
    expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(names);
  });
});
