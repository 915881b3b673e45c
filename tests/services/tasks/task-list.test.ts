import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addTask, copyTask } from '../../../main/services/tasks/new-task.ts';
import { listTasks, readTask, removeTask, requireSource, saveTask } from '../../../main/services/tasks/task-list.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { rewardTs, taskYaml, writeTask } from './task-folder.ts';

const resources = resolve(import.meta.dirname, '../../../resources');

function places() {
  const workspace = temporaryFolder();
  const folder = writeTask(join(workspace, 'tasks'));
  return { workspace, folder, at: { workspace, paths: { resources } } };
}

describe('listTasks', () => {
  it("lists the workspace's first, and says why one can't be used", () => {
    const { workspace, at } = places();
    writeTask(join(workspace, 'tasks'), 'broken', { 'task.yaml': taskYaml.replace('{word}', '{wrd}') });
    writeTask(join(workspace, 'tasks'), 'countdown');
    const tasks = listTasks(at);
    expect(tasks.slice(0, 3).map(({ name, origin }) => [name, origin])).toEqual([
      ['broken', 'workspace'],
      ['countdown', 'workspace'],
      ['say', 'workspace'],
    ]);
    expect(tasks[0]).toMatchObject({ title: null, problem: expect.stringContaining('task.yaml, line 3') });
    expect(tasks[2]).toMatchObject({ title: 'Say it', rewards: ['said', 'short'], check: 'loud', problem: null });
    expect(tasks.filter(({ name }) => name === 'countdown')).toHaveLength(1);
    expect(tasks.find(({ name }) => name === 'openenv')).toMatchObject({ kinds: { followed: 'openenv' }, maxTurns: 3 });
    expect(tasks.at(-1)).toMatchObject({ name: 'verifiers', origin: 'bundled', hasRecords: true });
  });
});

describe('saveTask', () => {
  const texts = { definition: taskYaml, reward: `${rewardTs}// changed\n` };

  it('saves both texts, unless somebody else has changed them', () => {
    const { folder, at } = places();
    const { hash } = readTask('say', at);
    expect(saveTask('say', { ...texts, over: hash }, at)).toBe(readTask('say', at).hash);
    expect(readFileSync(join(folder, 'reward.ts'), 'utf8')).toBe(texts.reward);
    expect(errorOf(() => saveTask('say', { ...texts, over: hash }, at))).toMatchObject({
      code: 'TASK_CHANGED_ELSEWHERE',
    });
    saveTask('say', { ...texts, over: null }, at);
  });

  it('writes only to folders of the workspace', () => {
    const { workspace, at } = places();
    const outside = writeTask(temporaryFolder(), 'elsewhere');
    symlinkSync(outside, join(workspace, 'tasks', 'linked'));
    for (const name of ['second-text', 'linked'])
      expect(
        errorOf(() => saveTask(name, { ...texts, over: null }, at)),
        name,
      ).toMatchObject({ code: 'TASK_READ_ONLY' });
    for (const name of ['../say', '/tmp', 'a/b', ''])
      expect(
        errorOf(() => saveTask(name, { ...texts, over: null }, at)),
        name,
      ).toMatchObject({ code: 'BAD_TASK_NAME' });
    expect(errorOf(() => removeTask('linked', at))).toMatchObject({ code: 'TASK_READ_ONLY' });
    expect(existsSync(join(outside, 'task.yaml'))).toBe(true);
  });
});

describe('removeTask', () => {
  it('deletes the folder', () => {
    const { folder, at } = places();
    removeTask('say', at);
    expect(existsSync(folder)).toBe(false);
    // Open in another window, it is gone there: nothing to copy.
    for (const write of [
      () => saveTask('say', { definition: '', reward: '', over: null }, at),
      () => removeTask('say', at),
    ])
      expect(errorOf(write)).toMatchObject({ code: 'UNKNOWN_TASK' });
  });
});

describe('requireSource', () => {
  it('finds tasks by name alone, and suggests another', () => {
    const { workspace, at } = places();
    mkdirSync(join(workspace, 'other'));
    writeFileSync(join(workspace, 'other', 'task.yaml'), taskYaml);
    expect(errorOf(() => requireSource(join(workspace, 'other'), at))).toMatchObject({ code: 'UNKNOWN_TASK' });
    expect(() => requireSource('sy', at)).toThrow('did you mean "say"?');
    expect(errorOf(() => requireSource('reply', at))).toMatchObject({ code: 'NATIVE_TASK' });
  });
});

describe('copyTask', () => {
  it('copies a task with its records and the types', () => {
    const { workspace, at } = places();
    const folder = copyTask('mine', requireSource('second-text', at).folder, at);
    expect(folder).toBe(join(workspace, 'tasks', 'mine'));
    expect(['records.jsonl', 'run.yaml', 'braid.d.ts'].every((file) => existsSync(join(folder, file)))).toBe(true);
    expect(errorOf(() => copyTask('mine', folder, at))).toMatchObject({ code: 'TASK_EXISTS' });
    expect(errorOf(() => copyTask('reply', folder, at))).toMatchObject({ code: 'BAD_TASK_NAME' });
  });
});

describe('addTask', () => {
  it('copies the folder of a task from anywhere, but no links, nor what is not a task', () => {
    const { workspace, at } = places();
    const elsewhere = writeTask(temporaryFolder(), 'theirs', { 'records.jsonl': '{"word":"a"}\n' });
    const folder = addTask('mine', elsewhere, at);
    expect(folder).toBe(join(workspace, 'tasks', 'mine'));
    expect(readFileSync(join(folder, 'records.jsonl'), 'utf8')).toBe('{"word":"a"}\n');
    symlinkSync('/etc', join(elsewhere, 'link'));
    expect(errorOf(() => addTask('linked', elsewhere, at))).toMatchObject({ code: 'TASK_HAS_LINK' });
    expect(errorOf(() => addTask('none', temporaryFolder(), at))).toMatchObject({ code: 'NOT_A_TASK' });
    expect(existsSync(join(workspace, 'tasks', 'linked'))).toBe(false);
  });
});
