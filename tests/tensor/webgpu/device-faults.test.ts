/** A device that fails, as a double: no driver can be made to reset here. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DeviceFaults } from '../../../main/tensor/webgpu/device-faults.ts';

class GPUOutOfMemoryError extends Error {}

function fakeDevice() {
  let [lose, report, stirred]: [(message: string) => void, (error: Error) => void, number] = [
    () => undefined,
    () => undefined,
    0,
  ];
  const device = {
    lost: new Promise((resolve) => {
      lose = (message) => resolve({ reason: 'unknown', message });
    }),
    addEventListener: (_: string, hear: (event: { error: Error }) => void) => {
      report = (error) => hear({ error });
    },
    queue: {
      onSubmittedWorkDone: async () => {
        stirred += 1;
      },
    },
  };
  const faults = new DeviceFaults(device as unknown as GPUDevice);
  return { faults, lose: (m: string) => lose(m), report: (e: Error) => report(e), stirred: () => stirred };
}

const aborted = new DOMException('', 'AbortError');

describe('DeviceFaults', () => {
  it('calls a device lost whose news comes after the read that failed for it', async () => {
    const { faults, lose, stirred } = fakeDevice();
    const reason = faults.reasonOf(aborted);
    await pause(30);
    lose('the driver was reset');
    expect(await reason).toEqual({ ok: false, fault: 'lost', message: 'the driver was reset' });
    // Dawn says nothing while nothing is waited for.
    expect(stirred()).toBeGreaterThan(0);
    expect([faults.take()?.fault, faults.take()?.fault]).toEqual(['lost', 'lost']);
  });

  it('calls a device lost even where a command was refused before', async () => {
    const { faults, lose, report } = fakeDevice();
    report(new Error('the buffer is destroyed'));
    lose('gone');
    expect(await faults.reasonOf(aborted)).toMatchObject({ fault: 'lost' });
  });

  it('gives the refusal of a device that stays, without waiting for its end, and an error without a message by its name', async () => {
    const { faults, report } = fakeDevice();
    const began = performance.now();
    expect(await faults.reasonOf(aborted)).toEqual({ ok: false, fault: 'invalid', message: 'AbortError' });
    expect(performance.now() - began).toBeLessThan(15_000);
    report(new GPUOutOfMemoryError('no memory'));
    report(new Error('follows from it'));
    expect(await faults.reasonOf(aborted)).toMatchObject({ fault: 'out-of-memory' });
    expect(faults.take()).toBeNull();
  });

  it('hears nothing of a device that is being closed', async () => {
    const { faults, lose } = fakeDevice();
    faults.close();
    lose('destroyed');
    await pause(5);
    expect(faults.lost).toBeNull();
  });
});
