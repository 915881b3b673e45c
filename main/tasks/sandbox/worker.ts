/**
 * Entry of the reward's thread: batches of completions in, their numbers out. And of the one beside it, for programs that
 * a model wrote.
 */
import { fileURLToPath } from 'node:url';
import { workerData } from 'node:worker_threads';
import { BraidError } from '../../errors.ts';
import { onPulse } from '../../pulse.ts';
import { replyPoster } from '../sync-thread.ts';
import { setUtc } from './fixed-clock.ts';
import type {
  ProgramCall,
  ProgramReply,
  RewardBatch,
  RewardLimits,
  RewardProgram,
  RewardReply,
  RewardRequest,
  RewardWorkerData,
} from './messages.ts';
import { SandboxFault } from './quickjs.ts';
import { openRewardSandbox, type RewardSandbox } from './reward-sandbox.ts';
import { openProgramRunner } from './run-javascript.ts';

const line = workerData as RewardWorkerData;
const post = replyPoster<RewardReply>(line);
let sandbox: RewardSandbox | null = null;

async function load(program: RewardProgram): Promise<void> {
  try {
    sandbox = await openRewardSandbox(program, fileURLToPath(import.meta.url));
    post({ kind: 'ready' });
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    post({ kind: 'refused', reason: error.message });
  }
}

async function answer(sandbox: RewardSandbox, request: RewardBatch): Promise<void> {
  sandbox.begin();
  if (request.call === 'step')
    for (const turn of request.inputs) await posted(async () => ({ kind: 'step', step: await sandbox.step(turn) }));
  else
    for (const one of request.inputs) {
      const isScored = await posted(async () => ({ kind: 'numbers', numbers: await sandbox.call(request.call, one) }));
      if (!isScored && request.untilFailure) return;
    }
}

/** Posts what a call gives, or why it failed (false). */
async function posted(call: () => Promise<RewardReply>): Promise<boolean> {
  try {
    post(await call());
    return true;
  } catch (error) {
    if (!(error instanceof SandboxFault)) throw error;
    post({ kind: 'failure', reason: error.message });
    return false;
  }
}

function serveRewards(): void {
  // It waits for a program's thread, which has limits of its own.
  onPulse(() => post({ kind: 'alive' }));
  line.port.on('message', (request: RewardRequest) => {
    if (request.call === 'load') void load(request.program);
    else if (sandbox !== null) void answer(sandbox, request);
  });
}

function servePrograms(limits: RewardLimits): void {
  const reply = replyPoster<ProgramReply>(line);
  const runner = openProgramRunner(limits);
  line.port.on('message', (call: ProgramCall) => {
    void runner.run(call, reply);
  });
  reply({ kind: 'ready' });
}

setUtc();
if (line.programs === undefined) serveRewards();
else servePrograms(line.programs);
