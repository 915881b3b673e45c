import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { openEventLog } from '../../../main/services/training/event-log.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { until } from '../../until.ts';

const step = (at: number): TrainerEvent => ({ kind: 'step', step: at, metrics: { reward: at } });
const locked = new BraidError('DATABASE_LOCKED', 'process 7 has locked it');

/** A log over a database that others may hold. */
function open(patienceMs = 5000) {
  const stored: TrainerEvent[] = [];
  const filed: TrainerEvent[] = [];
  const lose = vi.fn();
  const held = { by: null as Error | null };
  const attempts = vi.fn();
  const log = openEventLog(
    { isHeld: () => held.by !== null },
    {
      prepare: () => undefined,
      file: (events) => void filed.push(...events),
      record: (events) => {
        attempts();
        if (held.by !== null) throw held.by;
        stored.push(...events);
      },
      lose,
      patienceMs,
    },
  );
  return { log, stored, filed, lose, held, attempts };
}

describe('openEventLog', () => {
  it('waits for whoever holds the database, without an attempt at every batch, and loses nothing', async () => {
    const { log, stored, filed, lose, held, attempts } = open();
    log.add([step(1)]);
    held.by = locked;
    for (let at = 2; at < 9; at++) log.add([step(at)]);
    expect([stored.length, attempts.mock.calls.length]).toEqual([1, 2]);
    held.by = null;
    await until(() => stored.length === 8);
    expect(stored).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map(step));
    expect(filed).toEqual(stored);
    expect(lose).not.toHaveBeenCalled();
  });

  it('says that events are lost once its patience ends, and at once for another reason', async () => {
    const { log, lose, held } = open(20);
    held.by = locked;
    log.add([step(1)]);
    await until(() => lose.mock.calls.length === 1);
    expect(lose).toHaveBeenCalledWith(locked, [step(1)]);
    const full = open();
    full.held.by = new BraidError('DISK_FULL', 'the disk is full');
    full.log.add([step(1)]);
    expect(full.lose).toHaveBeenCalledWith(full.held.by, [step(1)]);
    full.held.by = null;
    full.log.add([step(2)]);
    expect(full.stored).toEqual([step(1), step(2)]);
  });

  it('ends once the rest is stored', async () => {
    const { log, stored, held } = open();
    held.by = locked;
    log.add([step(1)]);
    const ended = log.finish(() => stored.length);
    await sleep(30);
    held.by = null;
    expect(await ended).toBe(1);
    held.by = locked;
    const impatient = open(10);
    impatient.held.by = locked;
    impatient.log.add([step(1)]);
    await expect(impatient.log.finish(() => 0)).rejects.toBe(locked);
  });
});
