/** Entry of the reward's thread: batches of completions in, their numbers out. */
import { workerData } from 'node:worker_threads';
import { BraidError } from '../../errors.ts';
import type { RewardReply, RewardRequest, RewardWorkerData } from './messages.ts';
import { SandboxFault } from './quickjs.ts';
import { openRewardSandbox, type RewardSandbox } from './reward-sandbox.ts';

const { program, port, posted } = workerData as RewardWorkerData;
const count = new Int32Array(posted);

function post(reply: RewardReply): void {
  port.postMessage(reply);
  Atomics.add(count, 0, 1);
  Atomics.notify(count, 0);
}

async function answer(sandbox: RewardSandbox, { call, answers }: RewardRequest): Promise<void> {
  sandbox.begin();
  for (const one of answers) {
    try {
      post({ kind: 'numbers', numbers: await sandbox.call(call, one) });
    } catch (error) {
      if (!(error instanceof SandboxFault)) throw error;
      post({ kind: 'failure', reason: error.message });
    }
  }
}

try {
  const sandbox = await openRewardSandbox(program);
  post({ kind: 'ready' });
  port.on('message', (request: RewardRequest) => void answer(sandbox, request));
} catch (error) {
  if (!(error instanceof BraidError)) throw error;
  post({ kind: 'refused', reason: error.message });
}
