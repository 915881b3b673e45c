import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../main/samples/chat-message.ts';
import type { FolderSource } from '../../../main/tasks/folder/source.ts';
import { openTask } from '../../../main/tasks/index.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { runPlayJob } from '../../../main/trainer/jobs/play.ts';
import { openTiny } from '../run/tiny-run.ts';

let runtime: WasmRuntime;
let model: string;
const folder = mkdtempSync(join(tmpdir(), 'braid-test-'));
beforeAll(async () => {
  ({ runtime, model } = await openTiny(join(folder, 'model')));
});
afterAll(async () => {
  await closeWasmBackend(runtime);
  rmSync(folder, { recursive: true, force: true });
});

const task: FolderSource = {
  ...{ name: 'echo', folder: '/tasks/echo' },
  definition: `title: Echo
fields: { word: text }
prompt: '<a> {word} <out>'
environment: { max_turns: 3, max_turn_tokens: 3 }
max_completion_length: 16
success_threshold: 1
`,
  reward: `
export const step = ({ record, turn }) =>
  turn === 3 ? { reward: 1, done: true } : { message: record.word + ' ' + turn, done: false };`,
};

describe('runPlayJob', () => {
  it("tells each turn and the environment's answer before the next turn, and leaves no tensors", async () => {
    const told: { messages: readonly ChatMessage[]; tokens: number }[] = [];
    const before = tf.memory().numTensors;
    const result = await runPlayJob(
      {
        ...{ kind: 'play', task, record: openTask(task, '').parseRecord({ word: 'wa' }), temperature: 1, seed: 3 },
        ...{
          model: { base: model, adapter: null, tokenizer: model },
          beside: [],
          maxCompletionLength: null,
          rewardAccess: null,
        },
        ...{ backend: 'wasm', threads: 1, kernelsFile: '' },
        rewardWorker: join(import.meta.dirname, '../../../main/tasks/sandbox/worker.ts'),
      },
      {
        ...{ backend: { name: 'wasm', threads: 1 }, progress: async () => undefined },
        ...{ alive: () => undefined, text: () => undefined },
        messages: (messages, tokens) => told.push({ messages, tokens }),
      },
    );
    expect(told.map(({ messages }) => messages.map(({ role }) => role[0]).join(''))).toEqual(['au', 'auau', 'auaua']);
    expect(told[1]?.messages[3]?.content).toBe('wa 2');
    expect(told.at(-1)).toEqual({ messages: result.messages, tokens: result.tokens });
    expect(result).toMatchObject({ reward: 1, components: { reward: 1 }, failure: null, check: null });
    expect(tf.memory().numTensors).toBe(before);
  });
});
