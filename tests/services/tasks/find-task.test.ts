import { chmodSync, cpSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTask, taskArgument, taskNames } from '../../../main/services/tasks/find-task.ts';
import { copyTask, newTask } from '../../../main/services/tasks/new-task.ts';
import { taskStartConfig } from '../../../main/services/tasks/start-config.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { lines, rewardTs, taskYaml, writeTask } from './task-folder.ts';

const paths = { resources: join(import.meta.dirname, '../../../resources'), externalRewards: '' };

describe('findTask', () => {
  it('finds native tasks, those of the workspace, bundled ones and folders', () => {
    const workspace = temporaryFolder();
    writeTask(join(workspace, 'tasks'));
    const elsewhere = writeTask(temporaryFolder(), 'other');
    const places = { workspace, paths };
    expect(findTask('reply', places)).toBe('reply');
    expect(findTask('say', places)).toMatchObject({ name: 'say', definition: taskYaml, reward: rewardTs });
    expect(findTask('countdown', places)).toMatchObject({ name: 'countdown' });
    expect(findTask(elsewhere, places)).toMatchObject({ name: 'other', folder: elsewhere });
    expect(taskNames(places)).toEqual(expect.arrayContaining(['interleave', 'reply', 'say', 'countdown']));
  });

  it('prefers the workspace to what is bundled', () => {
    const workspace = temporaryFolder();
    writeTask(join(workspace, 'tasks'), 'countdown');
    expect(findTask('countdown', { workspace, paths })).toMatchObject({ definition: taskYaml });
  });

  it('refuses an unknown name with a suggestion, an incomplete folder, and the names of native tasks', () => {
    const workspace = temporaryFolder();
    const places = { workspace, paths };
    expect(() => findTask('countdwn', places)).toThrow('There is no task "countdwn"; did you mean "countdown"?');
    expect(() => findTask('intrleave', places)).toThrow('did you mean "interleave"?');
    // Windows and macOS find a folder of that name, which the run's next machine may not.
    expect(() => findTask('Countdown', places)).toThrow('did you mean "countdown"?');
    mkdirSync(join(workspace, 'empty'));
    expect(() => findTask(join(workspace, 'empty'), places)).toThrow('task.yaml: the file does not exist');
    expect(() => findTask(writeTask(workspace, 'reply'), places)).toThrow("is a task of Braid's own");
  });
});

describe('taskArgument', () => {
  it('keeps names and makes paths absolute', () => {
    const places = { workspace: temporaryFolder(), paths };
    expect(taskArgument('countdown', places)).toBe('countdown');
    expect(taskArgument('./mine', places)).toBe(join(process.cwd(), 'mine'));
  });
});

describe('newTask', () => {
  it('copies a template and the types into the workspace, once', async () => {
    const places = { workspace: temporaryFolder(), paths };
    const folder = await newTask('mine', 'second-text', places);
    expect(folder).toBe(join(places.workspace, 'tasks', 'mine'));
    expect(findTask('mine', places)).toMatchObject({ name: 'mine' });
    await expect(newTask('mine', 'second-text', places)).rejects.toThrow('exists already');
    await expect(newTask('other', 'second-txt', places)).rejects.toThrow('did you mean "second-text"?');
    await expect(newTask('reply', 'second-text', places)).rejects.toThrow("Braid's own");
    await expect(newTask('a b', 'second-text', places)).rejects.toThrow("Expected a task's name");
  });
});

describe('taskStartConfig', () => {
  it("gives a folder's settings and records, and nothing for a native task", () => {
    const workspace = temporaryFolder();
    const places = { workspace, paths };
    const folder = writeTask(workspace, 'say', { 'run.yaml': 'max_steps: 3\n', 'records.jsonl': lines({ word: 'a' }) });
    expect(taskStartConfig(folder, places)).toEqual({ max_steps: 3, dataset: join(folder, 'records.jsonl') });
    expect(taskStartConfig('interleave', places)).toEqual({});
  });

  it('makes a task that can be changed, from an installation that is read-only', () => {
    const places = { workspace: temporaryFolder(), paths };
    const installed = join(temporaryFolder(), 'countdown');
    cpSync(join(paths.resources, 'tasks/countdown'), installed, { recursive: true });
    cpSync(join(paths.resources, 'tasks/braid.d.ts'), join(installed, 'braid.d.ts'));
    const files = readdirSync(installed);
    for (const name of files) chmodSync(join(installed, name), name === 'reward.ts' ? 0o555 : 0o444);
    const folder = copyTask('mine', installed, places);
    const modes = Object.fromEntries(files.map((name) => [name, statSync(join(folder, name)).mode & 0o200]));
    expect(modes).toEqual(Object.fromEntries(files.map((name) => [name, 0o200])));
    // A program stays one.
    if (process.platform !== 'win32') expect(statSync(join(folder, 'reward.ts')).mode & 0o100).toBe(0o100);
  });
});
