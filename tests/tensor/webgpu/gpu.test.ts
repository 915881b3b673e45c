/** What the GPU's thread is asked for when a driver refuses memory: with a thread that only writes down. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { outOfMemory } from '../../../main/tensor/webgpu/faults.ts';
import { Gpu } from '../../../main/tensor/webgpu/gpu.ts';
import type { Line } from '../../../main/tensor/webgpu/line.ts';
import type { AdapterFacts, Batch, Request } from '../../../main/tensor/webgpu/protocol.ts';

const thread = vi.hoisted(() => ({ posted: [] as unknown[], kinds: [] as string[], refuses: false }));
const LIMITS = { maxBufferSize: 2 ** 30, maxStorageBufferBindingSize: 2 ** 30 };

vi.mock('../../../main/tensor/webgpu/line.ts', () => ({
  openLine: (): Line => ({
    post: (request) => {
      thread.posted.push(request);
      thread.kinds.push(request.kind);
    },
    ask: ({ kind }: Request) => {
      thread.kinds.push(kind);
      if (kind === 'open') return { ok: true, adapter: { limits: LIMITS } as unknown as AdapterFacts };
      if (thread.refuses) throw outOfMemory('the driver refused a buffer');
      return { ok: true, ...(kind.endsWith('read') && { bytes: new ArrayBuffer(256) }) };
    },
    end: () => Promise.resolve(),
  }),
}));

beforeEach(() => {
  [thread.posted, thread.kinds, thread.refuses] = [[], [], false];
});

describe('a small buffer that the driver refused', () => {
  it('is destroyed when its owner gives it back, not taken again', () => {
    const gpu = Gpu.open();
    const sound = gpu.take(256);
    gpu.read(sound, 256);
    const refused = gpu.take(256);
    thread.refuses = true;
    expect(() => gpu.read(refused, 256)).toThrow('Out of GPU memory');
    thread.refuses = false;
    gpu.give(sound);
    gpu.give(refused);
    expect(gpu.take(256).id).toBe(sound.id);
    expect(gpu.take(256).id).toBeGreaterThan(refused.id);
    gpu.finish();
    expect((thread.posted as Batch[]).flatMap(({ destroys }) => destroys)).toEqual([refused.id]);
  });
});

describe('startRead', () => {
  it('copies before what is asked for afterwards, which is posted before the wait', () => {
    const gpu = Gpu.open();
    const buffer = gpu.take(256);
    const read = gpu.startRead(buffer, 4);
    gpu.clear(buffer, 0, 1);
    read.wait();
    expect(thread.kinds).toEqual(['open', 'batch', 'start-read', 'batch', 'finish-read']);
  });

  it('is cancelled once, and not after it was waited for', () => {
    const gpu = Gpu.open();
    const [awaited, cancelled] = [gpu.startRead(gpu.take(256), 4), gpu.startRead(gpu.take(256), 4)];
    awaited.wait();
    awaited.cancel();
    cancelled.cancel();
    cancelled.cancel();
    expect(thread.posted.slice(-1)).toEqual([{ kind: 'cancel-read', read: 2 }]);
    expect(thread.kinds.filter((kind) => kind === 'cancel-read')).toHaveLength(1);
  });

  it('says nothing of buffers that were made after it started: one that was refused is destroyed', () => {
    const gpu = Gpu.open();
    const sound = gpu.take(256);
    const read = gpu.startRead(sound, 4);
    const refused = gpu.take(256);
    read.wait();
    thread.refuses = true;
    expect(() => gpu.finish()).toThrow('Out of GPU memory');
    thread.refuses = false;
    gpu.give(refused);
    gpu.give(sound);
    gpu.finish();
    expect((thread.posted as Batch[]).flatMap(({ destroys = [] }) => destroys)).toEqual([refused.id]);
  });
});
