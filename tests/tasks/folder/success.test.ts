import { describe, expect, it, onTestFinished } from 'vitest';
import { openFolderTask } from '../../../main/tasks/folder/folder-task.ts';
import { rewardWorker } from '../sandbox/scoring.ts';

describe('success', () => {
  it('is reached by parts that add up to the threshold as they are written', () => {
    const definition = `title: T
fields: { q: text }
prompt: '{q}'
max_completion_length: 9
rewards: { a: 0.6, b: 0.3, c: 0.1 }
success_threshold: 0.9
`;
    const reward = "export const reward = ({ completion }) => ({ a: 1, b: completion === 'both' ? 1 : 0.99, c: 0 });";
    const task = openFolderTask({ name: 't', folder: 't', definition, reward }, rewardWorker);
    onTestFinished(() => task.close());
    const record = task.parseRecord({ q: 'a' });
    const answers = ['both', 'one'].map((completion) => ({ record, completion, tokens: 1, finish: 'stop' as const }));
    expect(task.measure(answers).map(({ success }) => success)).toEqual([1, 0]);
  });
});
