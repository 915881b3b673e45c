/** What the GPU's thread is asked for when a driver refuses memory: with a thread that only writes down. */
import { describe, expect, it, vi } from 'vitest';
import { outOfMemory } from '../../../main/tensor/webgpu/faults.ts';
import { Gpu } from '../../../main/tensor/webgpu/gpu.ts';
import type { Line } from '../../../main/tensor/webgpu/line.ts';
import type { AdapterFacts, Batch, Request } from '../../../main/tensor/webgpu/protocol.ts';

const thread = vi.hoisted(() => ({ posted: [] as unknown[], refuses: false }));
const LIMITS = { maxBufferSize: 2 ** 30, maxStorageBufferBindingSize: 2 ** 30 };

vi.mock('../../../main/tensor/webgpu/line.ts', () => ({
  openLine: (): Line => ({
    post: (request) => void thread.posted.push(request),
    ask: ({ kind }: Request) => {
      if (kind === 'open') return { ok: true, adapter: { limits: LIMITS } as unknown as AdapterFacts };
      if (thread.refuses) throw outOfMemory('the driver refused a buffer');
      return { ok: true, ...(kind === 'read' && { bytes: new ArrayBuffer(256) }) };
    },
    end: () => Promise.resolve(),
  }),
}));

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
