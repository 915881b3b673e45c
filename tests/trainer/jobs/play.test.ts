import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { withoutOutcomes } from '../../../main/samples/chat-message.ts';
import type { FolderSource } from '../../../main/tasks/folder/source.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { buildKernels } from '../../../main/tensor/kernels/build.ts';
import type { PlayJob, PlayResult } from '../../../main/trainer/jobs/play.ts';
import { runJob } from '../../../main/trainer/jobs/run-job.ts';
import type { JobEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';

/** Says the model's words back, and is worth as many letters as it wrote in all. */
const task: FolderSource = {
  name: 'echo',
  folder: '/tasks/echo',
  definition: `title: Echo
fields: { word: text }
prompt: '<a> {word} <out>'
environment: { max_turns: 3, max_turn_tokens: 3 }
max_completion_length: 16
success_threshold: 1
`,
  reward: `
export const step = ({ record, messages, turn }) => {
  const said = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
  return turn === 3
    ? { reward: said.join('').length, done: true }
    : { message: record.word + ' ' + said.at(-1), done: false };
};`,
};

describe('runPlayJob', () => {
  it("tells each turn and the environment's answer before the next turn, and leaves no tensors", async () => {
    const model = join(temporaryFolder(), 'model');
    disposeModel(await writeTinyModel(model));
    const before = tf.memory().numTensors;
    const job: PlayJob = {
      kind: 'play',
      task,
      record: openTask(task, '').parseRecord({ word: 'wa' }),
      temperature: 1,
      seed: 3,
      model: { base: model, adapter: null, tokenizer: model },
      beside: [],
      maxCompletionLength: null,
      rewardAccess: null,
      backend: 'wasm',
      threads: 1,
      kernelsFile: buildKernels(),
      rewardWorker: join(import.meta.dirname, '../../../main/tasks/sandbox/worker.ts'),
    };
    const events: JobEvent[] = [];
    await runJob(job, (event) => events.push(event));
    expect(tf.memory().numTensors).toBe(before);

    const last = events.at(-1);
    if (last?.kind !== 'result') throw new Error(`Expected a result, got ${JSON.stringify(last)}`);
    const result = last.value as PlayResult;
    const said = result.messages?.filter(({ role }) => role === 'assistant').map(({ content }) => content) ?? [];
    expect(said).toHaveLength(3);
    expect(result).toMatchObject({
      reward: said.join('').length,
      components: { reward: result.reward },
      failure: null,
      check: null,
    });

    const shown = events.filter(({ kind }) => kind === 'text' || kind === 'messages');
    const conversations = shown.flatMap((event) => (event.kind === 'messages' ? [event] : []));
    expect(conversations.map(({ messages }) => messages.map(({ role }) => role[0]).join(''))).toEqual([
      ...['au', 'auau', 'auaua'],
    ]);
    expect(conversations[1]?.messages[3]?.content).toBe(`wa ${said[1]}`);
    expect(conversations.at(-1)).toEqual({
      kind: 'messages',
      messages: withoutOutcomes(result.messages ?? []),
      tokens: result.tokens,
    });
    // A turn's text grows before the conversation with it comes.
    shown.forEach((event, i) => {
      if (event.kind !== 'text') return;
      const turn = shown.slice(0, i).filter(({ kind }) => kind === 'messages').length;
      expect(said[turn]?.startsWith(event.text.trimEnd()), event.text).toBe(true);
    });
    expect(shown[0]).toMatchObject({ kind: 'text', tokens: 1 });
  });
});
