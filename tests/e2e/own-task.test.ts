/** Runs of tasks that the app has no code for: every screen that lists or shows them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { addRun, sampleOf } from '../store/helpers.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

/** One run for each way of showing completions, with a failed one. */
function workspaceWithTasks(): string {
  const root = temporaryFolderOfFile();
  const store = openStore(openWorkspace({ workspace: root }).database);
  const shown = [
    ['second-text', 'aligned', 'one two', 'one three'],
    ['answers', 'beside', 'forty two', 'about forty'],
    ['poems', 'plain', '', 'roses are red'],
    ['forms', 'json', '', '{"name":"Mina"}'],
    ['functions', 'code', '', 'function f() {\n  return 1;\n}'],
  ] as const;
  for (const [task, taskShow, target, completion] of shown) {
    const run = addRun(store, {
      name: `${task} run`,
      task,
      taskShow,
      taskHash: 'abc',
      configJson: `{"task":"${task}"}`,
    });
    const of = (index: number, reward: number, changes = {}) =>
      sampleOf({ index, reward, target, completion, components: { correct: reward }, prompt: 'Asked', ...changes });
    const failure = 'reward.ts:3:5: TypeError: not today';
    store.samples.record(run, 1, [of(0, 1), of(1, Number.NaN, { failure, completion: 'broken', components: {} })]);
    store.runs.advance(run, 1);
    store.runs.setState(run, 'done', null);
  }
  store.close();
  return root;
}

describe.skipIf(noBrowser)('a run of a task of its own', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp(workspaceWithTasks());
  });

  it('is listed and opens', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/runs');
    await page.getByText('functions run').first().waitFor();
    for (const run of [1, 4]) {
      await goto(`/runs/${run}`);
      await page.getByRole('heading', { name: run === 1 ? 'second-text run' : 'forms run' }).waitFor();
      await page.getByText('The settings of this run can’t be judged').or(page.getByText("can't be judged")).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it('shows its completions as the task says, and why a reward failed', async () => {
    const { page, complaints, goto } = await openPage(app);
    const best = page.getByRole('article', { name: 'best' });
    const worst = page.getByRole('article', { name: 'worst' });
    await goto('/samples?run=1');
    await best.getByRole('group', { name: /^best: / }).waitFor();
    await best.getByText('Target', { exact: true }).waitFor();
    await worst.getByText('No reward: reward.ts:3:5: TypeError: not today').waitFor();
    await expectAccessible(page);
    await goto('/samples?run=2');
    await best.getByText('Reference', { exact: true }).waitFor();
    await best.getByText('forty two').waitFor();
    await goto('/samples?run=3');
    await best.getByText('roses are red').waitFor();
    await goto('/samples?run=4');
    await expect.poll(() => best.locator('pre').innerText()).toBe('{\n  "name": "Mina"\n}');
    await goto('/samples?run=5');
    await expect.poll(() => best.locator('pre').innerText()).toBe('function f() {\n  return 1;\n}');
    expect(complaints).toEqual([]);
  });
});
