import { expect, it } from 'vitest';
import type { RunDetail } from '../../../main/api/contract/index.ts';
import { trainedBy } from '../../../renderer/home/LiveCard.tsx';

it('shows the loss of supervised steps, which have no reward', () => {
  const run = (method: string, ...names: string[]) =>
    ({
      method,
      latest: Object.fromEntries(names.map((name) => [name, { step: 1, value: 1 }])),
    }) as unknown as RunDetail;
  expect(trainedBy(run('sft', 'loss'))).toBe('loss');
  expect(trainedBy(run('grpo', 'warm_up/loss'))).toBe('warm_up/loss');
  expect(trainedBy(run('grpo', 'warm_up/loss', 'reward'))).toBe('reward');
  expect(trainedBy(run('grpo'))).toBe('reward');
});
