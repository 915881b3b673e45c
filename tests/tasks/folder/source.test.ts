import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTaskFolder } from '../../../main/tasks/folder/source.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

function folderWith(rewards: string): string {
  const folder = join(temporaryFolder(), 'mine');
  mkdirSync(folder);
  writeFileSync(join(folder, 'rewards.py'), '');
  const task = `title: Mine\nfields: { question: text }\nprompt: '{question}'\nmax_completion_length: 8\nsuccess_threshold: 1\n`;
  writeFileSync(join(folder, 'task.yaml'), `${task}rewards: ${rewards}\n`);
  return folder;
}

describe('readTaskFolder', () => {
  it('says how a reward in Python is declared, where there is no reward.ts', () => {
    const folder = folderWith('{ correct: 1 }');
    const remedy = expect.stringContaining('components with a `command`, as in the template python-functions');
    for (const path of [folder, join(folder, 'rewards.py')])
      expect(() => readTaskFolder(path)).toThrow(expect.objectContaining({ code: 'BAD_TASK', remedy }));
  });

  it('says what is wrong with a component that would need none', () => {
    expect(() => readTaskFolder(folderWith('{ correct: { weight: 1, python: rewards.py } }'))).toThrow(
      /task\.yaml, line 6: correct: .* got "python"; did you mean "command"\?$/,
    );
  });
});
