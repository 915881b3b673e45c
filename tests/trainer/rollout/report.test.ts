import { describe, expect, it } from 'vitest';
import { type ChatMessage, underSystem } from '../../../main/samples/chat-message.ts';
import { openTask } from '../../../main/tasks/index.ts';
import type { Generation } from '../../../main/trainer/batching/generation.ts';
import { samplesOf } from '../../../main/trainer/rollout/report.ts';
import { answerOf } from '../../../main/trainer/rollout/score.ts';

const definition = "title: T\nfields: { messages: messages }\nprompt: '{messages}'\nsuccess_threshold: 1\n";

describe('samplesOf', () => {
  it('keeps what a conversation asks as messages, beside its plain lines', () => {
    const task = openTask({ name: 'talk', folder: 'talk', definition, reward: '' }, '');
    const asked: ChatMessage[] = [
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
    const [sample] = samplesOf(task, generation, 1);
    expect(sample).toMatchObject({ promptMessages: asked, completion: 'Hey', target: 'Hello' });
    expect(sample?.prompt).toContain('User: Hi');
    const kind = { record, asked: underSystem(asked, 'Be kind.'), promptIds: [1], targetIds: [2] };
    const [told] = samplesOf(task, { ...generation, prompts: [kind] }, 1);
    const [, question] = asked;
    expect(told).toMatchObject({ promptMessages: [{ role: 'system', content: 'Be kind.' }, question] });
    expect(told?.prompt).toMatch(/Be kind\..*User: Hi/s);
  });
});

describe('answerOf', () => {
  it('passes on to a task what the model was asked under a system prompt', () => {
    const asked: ChatMessage[] = [{ role: 'system', content: 'Be kind.' }];
    const prompt = { record: { id: 'one', prompt: 'Hi' }, asked };
    expect(answerOf(prompt, { ids: [5], terminated: true }, () => 'Hey')).toMatchObject({ asked, completion: 'Hey' });
  });
});
