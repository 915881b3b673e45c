/** What completions of several turns take, as metrics of a step. */
import type { TurnTimes } from '../../model/turns.ts';
import type { Completion } from '../../samples/completion.ts';

export interface TurnMeter {
  readonly times: TurnTimes;
  /** Completions that were sampled in so many seconds. */
  sampled(completions: readonly Completion[], seconds: number): void;
  /** Since the last call; nothing where no completion had turns. */
  take(): Readonly<Record<string, number>>;
}

const NOTHING = { turns: 0, turnSeconds: 0, waitSeconds: 0, tokens: 0, seconds: 0 };

export function openTurnMeter(): TurnMeter {
  let sums = NOTHING;
  return {
    times: {
      turn: (seconds) => {
        sums = { ...sums, turns: sums.turns + 1, turnSeconds: sums.turnSeconds + seconds };
      },
      idle: (seconds) => {
        sums = { ...sums, waitSeconds: sums.waitSeconds + seconds };
      },
    },
    sampled: (completions, seconds) => {
      const own = ({ ids, toolMask }: Completion): number => toolMask?.filter((one) => one === 1).length ?? ids.length;
      const tokens = completions.reduce((sum, completion) => sum + own(completion), sums.tokens);
      sums = { ...sums, tokens, seconds: sums.seconds + seconds };
    },
    take: () => {
      const { turns, turnSeconds, waitSeconds, tokens, seconds } = sums;
      sums = NOTHING;
      if (turns === 0) return {};
      return {
        'environment/turn_seconds': turnSeconds / turns,
        'environment/wait_seconds': waitSeconds,
        'environment/tokens_per_second': tokens / seconds,
      };
    },
  };
}
