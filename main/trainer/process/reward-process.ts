/**
 * The reward process: computes rewards for a host that shows what they would do, so that no code of a task runs in the
 * host itself. It keeps the newest task open: often only the completions change from one call to the next.
 */

import { append } from '../../lists.ts';
import { taskHash } from '../../tasks/folder/source.ts';
import { withGroups } from '../../tasks/groups.ts';
import { openTask } from '../../tasks/index.ts';
import { type RewardThread, startRewardThread } from '../../tasks/sandbox/scorer.ts';
import type { Score, Task } from '../../tasks/task.ts';
import { describeFailure } from '../memory/failure.ts';
import type { RewardAnswer, RewardCall } from '../protocol/reward-calls.ts';
import { openHostPort } from './host-port.ts';

/** Completions between two looks at the clock and at new calls: as many as take about so long. */
const FIRST_PART = 4;
const LARGEST_PART = 256;
const PART_MS = 100;

/** A text is checked and tried by two calls: no thread is started between them. */
const IDLE_MS = 250;

const port = openHostPort<RewardCall, RewardAnswer>();
const newest = new Map<string, number>();
const waiting: RewardCall[] = [];
let isWorking = false;
let preparing: NodeJS.Timeout | undefined;
/** The next text's thread, started while the user reads or types: a start takes as long as hundreds of completions. */
let spare: { readonly entry: string; readonly thread: RewardThread } | null = null;
let open: { readonly hash: string; readonly task: Task } | null = null;

// Ctrl-C and the end of a service or session reach every process; this one ends with its host, which may be saving.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);
port.onMessage((call) => {
  newest.set(call.lane, call.id);
  waiting.push(call);
  if (!isWorking) void work();
});

async function work(): Promise<void> {
  isWorking = true;
  clearTimeout(preparing);
  let last = '';
  for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
    await port.send([await answer(call)]);
    last = call.rewardWorker;
  }
  isWorking = false;
  preparing = setTimeout(() => {
    spare ??= { entry: last, thread: startRewardThread(last) };
  }, IDLE_MS);
}

function nextThread(entry: string): RewardThread {
  const thread = spare?.entry === entry ? spare.thread : startRewardThread(entry);
  if (spare?.entry === entry) spare = null;
  return thread;
}

async function answer(call: RewardCall): Promise<RewardAnswer> {
  const { id } = call;
  try {
    return (await score(call)) ?? { kind: 'replaced', id };
  } catch (error) {
    return { kind: 'failed', id, ...describeFailure(error) };
  }
}

/** The task of a call; the last one is closed when another comes. */
function taskOf({ source, rewardWorker, access }: RewardCall): Task {
  const text = `${source.name} ${taskHash(source)}`;
  // A call without access only loads the reward: the open task will do. Otherwise an agreement or a key may be new.
  const hash = access === null && open?.hash.startsWith(`${text} `) ? open.hash : `${text} ${JSON.stringify(access)}`;
  if (open?.hash !== hash) {
    open?.task.close();
    open = null;
    open = { hash, task: openTask(source, () => nextThread(rewardWorker), access) };
  }
  return open.task;
}

/** null: a later call has replaced this one. */
async function score(call: RewardCall): Promise<RewardAnswer | null> {
  const isReplaced = (): boolean => newest.get(call.lane) !== call.id;
  if (isReplaced()) return null;
  const task = taskOf(call);
  task.score([]);
  const answers = withGroups(call.answers);
  const scores: Score[] = [];
  const checks: number[] = [];
  const began = performance.now();
  // Commands and servers take batches, and what is on its way to them isn't taken back.
  let [ms, part] = [0, call.access === null ? FIRST_PART : LARGEST_PART];
  while (scores.length < answers.length && performance.now() - began < call.budgetMs) {
    const some = answers.slice(scores.length, scores.length + part);
    const before = performance.now();
    append(scores, task.score(some));
    const took = performance.now() - before;
    ms += took;
    if (task.check !== null) append(checks, task.check.measure(some));
    if (took < PART_MS) part = Math.min(LARGEST_PART, part * 2);
    else if (took > 2 * PART_MS) part = Math.max(1, part >> 1);
    // Lets new calls arrive.
    await new Promise((resolve) => setImmediate(resolve));
    if (isReplaced()) return null;
  }
  return { kind: 'scored', id: call.id, scores, checks: task.check === null ? null : checks, ms };
}
