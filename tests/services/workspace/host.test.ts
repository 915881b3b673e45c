import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { describe, expect, it } from 'vitest';
import { currentHost, isBeforeBoot, isHostAlive } from '../../../main/services/workspace/host.ts';

describe('isHostAlive', () => {
  const own = { ...currentHost(), heartbeatAt: 0 };

  it('knows this process', () => {
    expect(isHostAlive(own, 0)).toBe(true);
  });

  it('is not misled by a process id that is used again', () => {
    expect(isHostAlive({ ...own, hostId: `${hostname()}:another-start` }, 0)).toBe(false);
  });

  it('knows that an ended process is gone', () => {
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    expect(isHostAlive({ pid, hostId: `${hostname()}:`, heartbeatAt: 0 }, 0)).toBe(false);
  });

  it('trusts another machine while it sends heartbeats', () => {
    const foreign = { pid: 1, hostId: 'some.other:machine:5', heartbeatAt: 1_000 };
    expect(isHostAlive(foreign, 2_000)).toBe(true);
    expect(isHostAlive(foreign, 1_000_000)).toBe(false);
    expect(isHostAlive({ ...foreign, heartbeatAt: 300_000 }, 2_000)).toBe(true);
    expect(isHostAlive({ ...foreign, heartbeatAt: 3_600_000 }, 2_000)).toBe(false);
    expect(isHostAlive({ ...foreign, heartbeatAt: null }, 0)).toBe(false);
    expect(isHostAlive({ pid: null, hostId: null, heartbeatAt: null }, 0)).toBe(false);
  });

  it('is not misled by one from before a restart, where the system tells no start times', () => {
    const unknownStart = () => `${hostname()}:`;
    const now = Date.now();
    const mine = { pid: process.pid, hostId: unknownStart() };
    const bootedAt = now - uptime() * 1000;
    expect(isHostAlive({ ...mine, heartbeatAt: bootedAt - 60_000 }, now, unknownStart)).toBe(false);
    expect(isHostAlive({ ...mine, heartbeatAt: now }, now, unknownStart)).toBe(true);
    expect(isHostAlive({ ...mine, heartbeatAt: null }, now, unknownStart)).toBe(true);
  });

  it('is not misled by a process that took over the id, where ids carry no start times', () => {
    const unknownStart = () => `${hostname()}:`;
    const mine = { pid: process.pid, hostId: unknownStart() };
    const startedAt = Date.now() - process.uptime() * 1000;
    const later = startedAt + 300_000;
    // Never before the machine's start, which has a rule of its own.
    const bootedAt = Date.now() - uptime() * 1000;
    const before = Math.max(startedAt - 60_000, (bootedAt + startedAt) / 2);
    expect(isHostAlive({ ...mine, heartbeatAt: before }, later, unknownStart)).toBe(false);
    expect(isHostAlive({ ...mine, heartbeatAt: startedAt + 10 }, later, unknownStart)).toBe(true);
    // The system's word on another process, where it has the program: on the one that started this.
    if (!existsSync('/bin/ps')) return;
    const other = { ...mine, pid: process.ppid };
    expect(isHostAlive({ ...other, heartbeatAt: bootedAt + 5 }, later, unknownStart)).toBe(false);
    expect(isHostAlive({ ...other, heartbeatAt: startedAt }, later, unknownStart)).toBe(true);
  });
});

describe('isBeforeBoot', () => {
  it('compares with the time at which the machine started, whose clock may have been set since', () => {
    const bootedAt = Date.now() - uptime() * 1000;
    expect(isBeforeBoot(bootedAt - 10_000)).toBe(true);
    expect(isBeforeBoot(bootedAt - 2000)).toBe(false);
    expect(isBeforeBoot(Date.now())).toBe(false);
  });
});
