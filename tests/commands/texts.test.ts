import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkoutPaths, setHostPaths } from '../../main/commands/host-paths.ts';
import { registerTexts } from '../../main/commands/texts.ts';
import { madeTexts } from '../services/texts/made-texts.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { runCommand } from './run-command.ts';

let folder = '';
let workspace = '';
beforeEach(() => {
  folder = temporaryFolder();
  workspace = join(folder, 'workspace');
});

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const run = (...args: string[]) => runCommand(registerTexts, 'texts', ...args, '--workspace', workspace);
const made = () => file('made.json', JSON.stringify(madeTexts(30, 40, 50, 60)));

beforeAll(() => setHostPaths(checkoutPaths(resolve(import.meta.dirname, '../..'))));

describe('braid texts import', () => {
  it('keeps texts in the workspace and reports duplicates', async () => {
    expect((await run('import', made())).stdout).toContain('4 of 4 texts added; the corpus has 4 texts, 180 words');
    const again = await run('import', made(), '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, texts: 4, words: 180, workspace });
    expect(JSON.parse(again.stdout).duplicates).toHaveLength(4);
    expect((await run('import', made())).stdout).toContain('"Text 0" is the same text as "Text 0": skipped');
  });

  it('imports nothing when a file is invalid, and creates no workspace', async () => {
    const { error } = await run('import', made(), file('bad.jsonl', '"one"\n{'));
    expect(error).toMatchObject({ code: 'BAD_TEXTS', kind: 'input' });
    expect(error?.message).toContain('bad.jsonl, line 2: not JSON');
    expect(existsSync(workspace)).toBe(false);
  });

  it('applies the minimum length of chat answers', async () => {
    const chat = file('chat.json', JSON.stringify({ messages: [{ role: 'assistant', content: 'one two three' }] }));
    expect((await run('import', chat)).error?.message).toContain('at least 50 words');
    expect((await run('import', chat, '--min-words', '3')).error).toBeNull();
    expect((await run('import', chat, '--min-words', 'few')).error?.message).toBe(
      'Expected --min-words to be a whole number of at least 1, got "few"',
    );
  });
});

describe('braid texts stats', () => {
  it('counts the words of Chinese texts, and says how', async () => {
    const texts = ['春天的早晨，小河边的柳树发出了嫩芽。', '老人坐在长椅上看书，偶尔抬头望望天空。'];
    const { stdout } = await run('stats', file('zh.json', JSON.stringify([...texts, 'An English text'])));
    expect(stdout).toContain('3 texts (files), 22 words; shortest 3, median 9, longest 10');
    expect(stdout).toMatch(/segmentation, in 2 texts/);
  });

  it('reads documents and folders', async () => {
    const page = file('page.html', '<h1>Title</h1><p>Four words of text');
    const { stdout, error } = await run('stats', page, file('a.doc', 'x'));
    expect([stdout, error?.message]).toEqual(['', expect.stringContaining("can't read an old Word document (.doc)")]);
    expect((await run('stats', page)).stdout).toContain('1 text (files), 4 words');
  });

  it('counts the given files', async () => {
    const { stdout } = await run('stats', made(), '--json', '--train', '10', '--test', '5');
    const stats = JSON.parse(stdout);
    expect(stats).toMatchObject({ origin: 'files', texts: 4, words: 180, shortest: 30, longest: 60 });
    expect(stats.stages[0]).toMatchObject({ words: 10, texts: 4, shortage: null });
    expect(stats.stages[2]).toMatchObject({ words: 50, texts: 2, missing_texts: 2, missing_words: 30 });
  });

  it("counts the workspace's texts, or the bundled ones if it has none", async () => {
    expect(JSON.parse((await run('stats', '--json')).stdout).origin).toBe('bundled');
    expect(existsSync(workspace)).toBe(false);
    await run('import', made());
    expect(JSON.parse((await run('stats', '--json')).stdout)).toMatchObject({ origin: 'workspace', texts: 4 });
    expect((await run('stats')).stdout).toContain('4 texts (workspace), 180 words');
  });
});
