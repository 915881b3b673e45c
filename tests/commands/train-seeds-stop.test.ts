import { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CommandContext } from '../../main/commands/shared.ts';
import { trainSeeds } from '../../main/commands/train-seeds.ts';
import { startTraining } from '../../main/services/training/training.ts';
import type { RunState } from '../../main/store/runs.ts';
import { temporaryStore } from '../store/helpers.ts';

vi.mock('../../main/services/training/training.ts');
vi.mock('../../main/commands/host-paths.ts');
vi.mock('../../main/services/runs/seed-groups.ts', async (original) => ({
  ...(await original<object>()),
  seedGroupSummary: (_: unknown, experiment: string) => ({ experiment, runs: [], other_settings: [], metrics: {} }),
}));

afterEach(() => {
  process.exitCode = undefined;
});

/** Trains seeds 1, 2 and 3; Ctrl-C is pressed during the run of `stopIn`, which still ends in `state`. */
async function train(stopIn: number, state: RunState = 'done') {
  const seeds: number[] = [];
  vi.mocked(startTraining).mockImplementation((_, { seed }) => {
    seeds.push(seed);
    const end = async () => {
      await new Promise((settle) => setImmediate(settle));
      if (seed === stopIn) process.emit('SIGINT', 'SIGINT');
      return { runId: 10 + seed, state, step: 5, checkpoint: null, error: null, kept: true };
    };
    return { runId: 10 + seed, send: () => undefined, kill: () => undefined, outcome: end() } as never;
  });
  const said: string[] = [];
  const out = vi.fn();
  const say = (line: string): void => void said.push(line);
  const context = { workspace: { root: '' }, print: () => undefined, out, say } as unknown as CommandContext;
  await trainSeeds(temporaryStore(), { seeds: '1,2,3', experiment: 'warm' }, new Command(), context);
  return { seeds, last: said.at(-1), out };
}

describe('trainSeeds', () => {
  it("trains no further seed after a stop that came in a run's last step", async () => {
    const { seeds, last, out } = await train(1);
    expect(seeds).toEqual([1]);
    expect(last).toBe(
      'Run 11 (seed 1) is done. Seeds 2, 3 were not trained: use --seeds 2,3 --experiment "warm" to train the rest.',
    );
    expect(out).not.toHaveBeenCalled();
    expect(process.exitCode).toBe(130);
  });

  it('says how to continue after a run that was stopped', async () => {
    const { seeds, last } = await train(1, 'interrupted');
    expect(seeds).toEqual([1]);
    expect(last).toMatch(/^Run 11 \(seed 1\) was interrupted; resume it with --resume\. Seeds 2, 3 were not trained: /);
  });

  it('reports as usual when the last seed is done', async () => {
    const { seeds, out } = await train(3);
    expect(seeds).toEqual([1, 2, 3]);
    expect(out).toHaveBeenCalledWith(expect.objectContaining({ experiment: 'warm' }));
    expect(process.exitCode).toBeUndefined();
  });
});
