import { describe, expect, it } from 'vitest';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import type { Answer, Task } from '../../../main/tasks/task.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { scoreCompletions } from '../../../main/trainer/rollout/score.ts';

describe('scoreCompletions', () => {
  it('gives a task the completions of each prompt as a group, also where two groups have one record', () => {
    const record = { id: 'one', prompt: 'Hi' };
    const prompts = [1, 2].map(() => ({ record, promptIds: [1], targetIds: [] }));
    const completions = [3, 4, 5, 6].map((id) => ({ ids: [id], terminated: true }));
    const given: Answer[] = [];
    const score = (answers: readonly Answer[]) => {
      given.push(...answers);
      return answers.map(() => ({ components: { alignment: 1 }, failure: null }));
    };
    const task = { ...interleaveTask, score } as unknown as Task;
    const config = parseConfig({ num_generations: 2 });
    scoreCompletions(task, prompts, completions, ([id]) => `${id}`, config);
    const groups = given.map(({ group }) => group?.completions.map(({ completion }) => completion));
    expect(groups).toEqual([
      ['3', '4'],
      ['3', '4'],
      ['5', '6'],
      ['5', '6'],
    ]);
    expect(given.map(({ group }) => group?.place)).toEqual([0, 1, 0, 1]);
  });
});
