import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { spawnTrainer } from '../../../main/services/trainer-process/process.ts';

const job = { kind: 'self-check', backend: 'wasm', threads: 1, kernelsFile: 'kernels.wasm' } as const;

/** A trainer process that sends a message when asked to, and exits when killed. */
function openTrainer(silenceMs: number) {
  let send: (message: unknown) => void = () => undefined;
  let exit: (code: number | null, signal: string | null, fault: string | null) => void = () => undefined;
  let kills = 0;
  const kill = (): void => {
    kills += 1;
    exit(null, 'SIGKILL', null);
  };
  const launch = () => ({
    pid: 1,
    stderr: null,
    kill,
    post: () => undefined,
    onMessage: (listener: typeof send) => {
      send = listener;
    },
    onExit: (listener: typeof exit) => {
      exit = listener;
    },
  });
  const { exited } = spawnTrainer(job, { launch, onEvents: () => undefined, silenceMs });
  return { exited, say: () => send([{ kind: 'alive' }]), kills: () => kills };
}

/** As after a machine's sleep: timers that were due meanwhile are all late, and no message was received. */
function sleepAll(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('spawnTrainer', () => {
  it("doesn't count the machine's own sleep as silence", async () => {
    const trainer = openTrainer(1000);
    trainer.say();
    sleepAll(1500);
    await sleep(100);
    expect(trainer.kills()).toBe(0);
    trainer.say();
    const began = performance.now();
    expect(await trainer.exited).toMatchObject({ signal: 'SIGKILL', silentForMs: 1000 });
    expect(performance.now() - began).toBeGreaterThan(990);
    await sleep(200);
    expect(trainer.kills()).toBe(1);
  });

  it('spares a process that sends messages', async () => {
    const trainer = openTrainer(1000);
    for (let sent = 0; sent < 10; sent += 1) {
      trainer.say();
      await sleep(150);
    }
    expect(trainer.kills()).toBe(0);
    await trainer.exited;
  });
});
