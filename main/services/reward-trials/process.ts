/** The host's side of the reward process: started with the first call, ended when nobody has asked for a while. */
import { BraidError } from '../../errors.ts';
import { startRemedy } from '../../io/start-reason.ts';
import type { ExternalAccess } from '../../tasks/external/access.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import type { NamedGroup } from '../../tasks/groups.ts';
import type { RewardAnswer, RewardCall, ScoredAnswers } from '../../trainer/protocol/reward-calls.ts';
import type { TrainerChannel } from '../trainer-process/channel.ts';
import { describeExit, failedError, keepTail, type TrainerExit } from '../trainer-process/process.ts';
import type { HostPaths } from '../workspace/paths.ts';

export interface RewardProcess {
  /**
   * Scores completions with a task. A later call of the same lane replaces an earlier one, which then fails with the
   * code REPLACED.
   */
  score(
    lane: string,
    source: FolderSource,
    answers: readonly NamedGroup[],
    access?: ExternalAccess | null,
  ): Promise<ScoredAnswers>;
  close(): void;
}

export interface RewardProcessOptions {
  /** How long one call may compute. */
  readonly budgetMs?: number;
}

/** How long the process is kept without a call. */
const IDLE_MS = 120_000;
/** Commands and servers take longer than reward.ts; somebody has asked for this, and can leave. */
const OUTSIDE_BUDGET_MS = 300_000;

type Places = Pick<HostPaths, 'rewardProcess' | 'rewardWorker'>;

interface Pending {
  readonly resolve: (scored: ScoredAnswers) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens the desk, without a process yet. */
export function openRewardProcess(
  { rewardProcess, rewardWorker }: Places,
  { budgetMs = 8000 }: RewardProcessOptions = {},
): RewardProcess {
  const pending = new Map<number, Pending>();
  let channel: TrainerChannel<RewardCall> | null = null;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;

  function end(error: BraidError): void {
    clearTimeout(idle);
    channel?.kill();
    channel = null;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  }

  function take(answers: readonly RewardAnswer[]): void {
    for (const answer of answers) {
      const asked = pending.get(answer.id);
      pending.delete(answer.id);
      if (answer.kind === 'scored') asked?.resolve(answer);
      else asked?.reject(answer.kind === 'failed' ? failedError(answer) : replaced());
    }
    if (pending.size === 0) idle = setTimeout(() => end(replaced()), IDLE_MS).unref();
  }

  function started(): TrainerChannel<RewardCall> {
    const fresh = rewardProcess();
    const stderr = keepTail(fresh.stderr);
    fresh.onMessage((message) => take(message as readonly RewardAnswer[]));
    fresh.onExit((code, signal, fault) => {
      if (channel === fresh) end(died({ code, signal, fault, stderr: stderr(), silentForMs: null }));
    });
    return fresh;
  }

  return {
    score: (lane, source, answers, access = null) =>
      new Promise((resolve, reject) => {
        clearTimeout(idle);
        const id = ++lastId;
        pending.set(id, { resolve, reject });
        channel ??= started();
        const ms = access === null ? budgetMs : Math.max(budgetMs, OUTSIDE_BUDGET_MS);
        channel.post({ kind: 'score', id, lane, source, answers, budgetMs: ms, rewardWorker, access });
      }),
    close: () => end(replaced()),
  };
}

function replaced(): BraidError {
  return new BraidError('REPLACED', 'A later version of the reward is being tried', { kind: 'input' });
}

function died(exit: TrainerExit): BraidError {
  const reason = describeExit(exit, 'The process that tries rewards');
  return new BraidError('REWARD_PROCESS_DIED', `Your files are unchanged. ${reason}`, {
    remedy: startRemedy(reason) ?? 'Change the reward or try again: the process is started again.',
  });
}
