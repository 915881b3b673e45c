import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startSyncThread } from '../../main/tasks/sync-thread.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';

const folder = temporaryFolderOfFile();

/** Waits for a thread as the trainer does, without an event loop. */
function faultOf(code: string | null): { readonly fault: string | null; readonly ms: number } {
  const file = join(folder, `${Math.random()}.mjs`);
  if (code !== null) writeFileSync(file, code);
  const began = performance.now();
  const thread = startSyncThread(file, {}, {});
  const reply = thread.next(60_000);
  const fault = thread.fault();
  thread.end();
  expect(reply).toBeNull();
  return { fault, ms: performance.now() - began };
}

describe('a thread that cannot start', () => {
  it.each([
    ['its file is missing', null, /Cannot find module .*\.mjs/],
    ['a module that it imports is missing', "import './none.mjs'", /Cannot find module .*none\.mjs/],
    ['a package is missing', "import 'no-such-package'", /Cannot find package 'no-such-package'/],
    ['it has a syntax error', 'const = 1', /SyntaxError: /],
    ['an import lacks a name', "import { none } from 'node:path'", /does not provide an export named 'none'/],
    ['it throws as it loads', "throw new TypeError('no luck')", /TypeError: no luck/],
    ['it throws later', "setTimeout(() => { throw new Error('later') })", /Error: later/],
    ['a promise is rejected', "void Promise.reject(new Error('unseen'))", /unseen/],
    ['it throws no error', "throw 'words'", /words/],
    ['it ends', 'process.exit(7)', /ended by itself, with code 7/],
    ['it has nothing to do', '', /ended by itself, with code 0/],
    ['it waits for nothing', 'await new Promise(() => {})', /ended by itself/],
  ])('says why at once: %s', (_, code, why) => {
    const { fault, ms } = faultOf(code);
    expect(fault).toMatch(why);
    expect(ms).toBeLessThan(20_000);
  });
});
