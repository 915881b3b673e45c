import { describe, expect, it } from 'vitest';
import { openTask } from '../../../main/tasks/index.ts';
import type { Generation } from '../../../main/trainer/batching/generation.ts';
import { samplesOf } from '../../../main/trainer/rollout/report.ts';

const definition = "title: T\nfields: { messages: messages }\nprompt: '{messages}'\nsuccess_threshold: 1\n";

describe('samplesOf', () => {
  it('keeps what a conversation asks as messages, beside its plain lines', () => {
    const task = openTask({ name: 'talk', folder: 'talk', definition, reward: '' }, '');
    const asked = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ];
    const messages = [...asked, { role: 'assistant', content: 'Hello' }];
    const record = task.parseRecord({ id: 'one', messages });
    const generation: Generation = {
      prompts: [{ record, promptIds: [1], targetIds: [2] }],
      completions: [{ ids: [5, 2], terminated: true }],
      texts: ['Hey'],
      number: 0,
      failures: [null],
      rewards: [[1]],
      metrics: {},
      result: { rewards: [1], advantages: [0], means: [1], deviations: [0] } as unknown as Generation['result'],
    };
    const [sample] = samplesOf(task, { asked: (messages) => messages }, generation, 1);
    expect(sample).toMatchObject({ promptMessages: asked, completion: 'Hey', target: 'Hello' });
    expect(sample?.prompt).toContain('User: Hi');
    const system = { role: 'system' as const, content: 'Be brief.' };
    const [told] = samplesOf(task, { asked: (messages) => [system, ...messages] }, generation, 1);
    expect(told).toMatchObject({ promptMessages: [system, ...asked], prompt: expect.stringContaining('Be brief.') });
  });
});
