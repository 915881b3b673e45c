import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const taskYaml = `title: Say it
fields: { word: text }
prompt: 'Say {word}'
target: '{word}'
rewards: { said: 1, short: 0.5 }
highest_reward: 1.5
success_threshold: 1
check: loud
show: aligned
`;

export const rewardTs = `import { type Answer, words } from 'braid';
export function reward({ record, completion }: Answer<{ word: string }>): Record<string, number> {
  if (completion === 'fail') throw new Error('as asked');
  return { said: completion.includes(record.word) ? 1 : 0, short: words(completion).length <= 2 ? 1 : 0 };
}
export function check({ completion }: Answer): number {
  return completion === completion.toUpperCase() ? 1 : 0;
}
`;

/** Writes a task's folder; gives its path. */
export function writeTask(parent: string, name = 'say', files: Readonly<Record<string, string>> = {}): string {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries({ 'task.yaml': taskYaml, 'reward.ts': rewardTs, ...files }))
    writeFileSync(join(folder, file), text);
  return folder;
}

/** Lines of a JSONL file. */
export function lines(...values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
