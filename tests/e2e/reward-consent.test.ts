/** A task that runs a command: nothing runs before the user has agreed outside the page. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { atEndOfFile } from '../end-of-file.ts';
import { BRAID } from '../processes/paths.ts';
import { lines, writeTask } from '../services/tasks/task-folder.ts';
import { DOUBLE } from '../tasks/openenv/served-task.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { environmentOf, expectAccessible, openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

describe.skipIf(noBrowser)('a task whose reward runs a command', () => {
  it('shows the command, refuses a page, and computes when asked after the agreement', {
    timeout: 240_000,
  }, async () => {
    const workspace = temporaryFolderOfFile();
    const ran = join(workspace, 'ran');
    writeTask(join(workspace, 'tasks'), 'mix', {
      'task.yaml': `title: Mixed
fields: { word: text }
prompt: 'Say {word}'
target: '{word}'
success_threshold: 1
rewards:
  said: 1
  length: { weight: 0.5, command: [${JSON.stringify(process.execPath)}, score.mjs] }
`,
      'reward.ts':
        'export const reward = ({ record, completion }) => ({ said: completion === record.word ? 1 : 0 });\n',
      'score.mjs': `import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(ran)}, '');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, completion } = JSON.parse(line);
  console.log(JSON.stringify(completion === '' ? { id, error: 'nothing to measure' } : { id, score: completion.length }));
}
`,
      'examples.jsonl': lines(
        { record: { word: 'hi' }, completion: 'hi' },
        { record: { word: 'hi' }, completion: 'no hi' },
        { record: { word: 'hi' }, completion: '' },
      ),
    });
    const app = await startApp(workspace);
    const env = environmentOf(workspace);
    const { page, complaints, goto } = await openPage(app, { width: 1280, height: 900 });
    page.setDefaultTimeout(30_000);
    await goto('/tasks');
    await page.getByText('said, length (command)').waitFor();
    await goto('/tasks/mix');
    const component = page.getByRole('article', { name: 'length' });
    await component.getByText('not allowed').waitFor();
    await component.getByText('Show score.mjs').click();
    await component.getByText('createInterface({ input').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Compute the rewards' }).isDisabled()).toBe(true);
    await expectAccessible(page);

    await component.getByRole('button', { name: 'Allow … length' }).click();
    const refusal = component.getByRole('alert');
    await refusal.getByText(/only you can, at this machine/).waitFor();
    const [, hash = ''] = /braid task allow \S+mix ([0-9a-f]{64})/.exec((await refusal.textContent()) ?? '') ?? [];
    expect(hash).toHaveLength(64);
    expect(existsSync(ran)).toBe(false);

    execFileSync(process.execPath, [BRAID, 'task', 'allow', 'mix', hash, '--workspace', workspace], { env });
    await refusal.getByRole('button', { name: 'Try again' }).click();
    await component.getByText('allowed', { exact: true }).waitFor();
    expect(existsSync(ran)).toBe(false);
    await page.getByRole('button', { name: 'Compute the rewards' }).click();
    await page.getByText('The reward fails on 1 of 3 completions.').waitFor();
    await page.getByText('length: nothing to measure').waitFor();
    expect(existsSync(ran)).toBe(true);
    await expectAccessible(page);

    // A task of an OpenEnv server: not even its schemas are read before.
    const game = spawn(process.execPath, [DOUBLE, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    atEndOfFile(async () => void game.kill('SIGKILL'));
    const address = String((await once(game.stdout, 'data'))[0]).trim();
    await goto('/tasks');
    await page.getByRole('button', { name: 'New task …' }).click();
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await dialog.getByRole('textbox', { name: /Name/ }).fill('guess');
    await dialog.getByText('An OpenEnv server').click();
    await dialog.getByRole('textbox', { name: 'Address' }).fill(address);
    await dialog.getByRole('button', { name: 'Ask the server …' }).click();
    const refused = dialog.getByRole('alert');
    await refused.getByText(/braid task allow ws:/).waitFor();
    const [, server = ''] = /([0-9a-f]{64})/.exec((await refused.textContent()) ?? '') ?? [];
    execFileSync(process.execPath, [BRAID, 'task', 'allow', address, server], { env });
    await refused.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByText('A number from 0 to 9, game 42').waitFor();
    await expect
      .poll(() => dialog.getByRole('textbox', { name: 'Action: guess' }).inputValue())
      .toContain('last-number');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'guess' }).waitFor();
    await page.getByRole('article', { name: 'environment' }).getByText('allowed', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});
