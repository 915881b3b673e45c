import { MessageChannel, Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import { onPulse } from '../../../main/pulse.ts';
import { waitFor } from '../../../main/tensor/webgpu/line.ts';

/** Echoes what it is sent; its notification comes late, when the next request is already waited for. */
const LATE = `
const { port, flag } = require('node:worker_threads').workerData;
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
port.on('message', (message) => {
  if (message.slow) pause(60);
  port.postMessage(message);
  Atomics.add(flag, 0, 1);
  if (message.late) pause(30);
  Atomics.notify(flag, 0);
});`;

describe('waitFor', () => {
  it('is not ended by the late notification of the reply before', async () => {
    const flag = new Int32Array(new SharedArrayBuffer(8));
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(LATE, { eval: true, workerData: { port: port2, flag }, transferList: [port2] });
    const ask = (request: object) => {
      const before = Atomics.load(flag, 0);
      port1.postMessage(request);
      // The first answer is there before it is waited for.
      while ('late' in request && Atomics.load(flag, 0) === before);
      return waitFor(port1, flag, before);
    };
    expect(ask({ late: true })).toEqual({ late: true });
    expect(ask({ slow: true })).toEqual({ slow: true });
    port1.close();
    await worker.terminate();
  });

  it('takes a machine that slept for a while for no lost thread', async () => {
    const flag = new Int32Array(new SharedArrayBuffer(8));
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(LATE, { eval: true, workerData: { port: port2, flag }, transferList: [port2] });
    // The clock runs on while it sleeps; the first look after that comes before the other thread's sign of life.
    let slept = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (slept += 3_600_000));
    const look = vi.spyOn(Atomics, 'wait').mockImplementationOnce(() => 'timed-out');
    port1.postMessage({ slow: true });
    expect(waitFor(port1, flag, 0)).toEqual({ slow: true });
    clock.mockRestore();
    look.mockRestore();
    port1.close();
    await worker.terminate();
  });

  it('passes on that the other thread lives', async () => {
    const flag = new Int32Array(new SharedArrayBuffer(8));
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(LATE, { eval: true, workerData: { port: port2, flag }, transferList: [port2] });
    const heard = vi.fn();
    onPulse(heard);
    const lives = () => {
      Atomics.add(flag, 1, 1);
      return 'timed-out' as const;
    };
    const look = vi
      .spyOn(Atomics, 'wait')
      .mockImplementationOnce(lives)
      .mockImplementationOnce(() => 'timed-out');
    port1.postMessage({ slow: true });
    expect(waitFor(port1, flag, 0)).toEqual({ slow: true });
    expect(heard).toHaveBeenCalledTimes(1);
    onPulse(null);
    look.mockRestore();
    port1.close();
    await worker.terminate();
  });

  it('gives up at its deadline, although the other thread lives', async () => {
    const flag = new Int32Array(new SharedArrayBuffer(8));
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(LATE, { eval: true, workerData: { port: port2, flag }, transferList: [port2] });
    const began = performance.now();
    expect(() => waitFor(port1, flag, 0, began + 50)).toThrow(expect.objectContaining({ code: 'GPU_SLOW' }));
    expect(performance.now() - began).toBeLessThan(20_000);
    port1.close();
    await worker.terminate();
  });

  it('says at once why the thread has ended', () => {
    const flag = new Int32Array(new SharedArrayBuffer(8));
    const { port1 } = new MessageChannel();
    const fault = expect.objectContaining({
      code: 'GPU_THREAD',
      message: expect.stringContaining("can't start: gone"),
    });
    expect(() => waitFor(port1, flag, 0, undefined, () => 'gone')).toThrow(fault);
    port1.close();
  });
});
