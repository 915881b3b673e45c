/** What NVIDIA's GPUs have in use, for those who can't wait: the last answer is given at once. */
import { type AskSmi, askHeldBytes, askNvidiaGpus } from './nvidia-smi.ts';

export interface GpuMemory {
  readonly name: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
}

/** What a process holds on all GPUs together, and the most that it was seen to hold. */
export interface HeldGpuMemory {
  readonly bytes: number;
  readonly peakBytes: number;
}

/** An answer may be this old. */
const FRESH_MS = 5000;
/** Where there is no tool or no GPU, the tool is tried again after this time. */
const MISSING_MS = 10 * 60_000;

/** The GPUs of this machine that say what they have; none where the tool finds none. */
export function watchGpus(ask?: AskSmi): () => readonly GpuMemory[] {
  return watched<readonly GpuMemory[]>([], async () =>
    (await askNvidiaGpus(ask)).flatMap(({ name, totalBytes, freeBytes }) =>
      totalBytes === null || freeBytes === null ? [] : [{ name, totalBytes, freeBytes }],
    ),
  );
}

/** What this process holds; null where the tool doesn't tell. */
export function watchOwnMemory(ask?: AskSmi): () => HeldGpuMemory | null {
  return watched<HeldGpuMemory | null>(null, async (before) => {
    const bytes = await askHeldBytes(process.pid, ask);
    return bytes === null ? null : { bytes, peakBytes: Math.max(bytes, before?.peakBytes ?? 0) };
  });
}

/** Gives the last answer, and looks again in the background once that is old. */
export function watched<T>(nothing: T, look: (before: T) => Promise<T>): () => T {
  let [last, due] = [nothing, 0];
  const refresh = async (): Promise<void> => {
    due = Number.POSITIVE_INFINITY;
    try {
      last = await look(last);
      due = performance.now() + FRESH_MS;
    } catch {
      // No tool, or no GPU found by it: both mean that nothing is known.
      last = nothing;
      due = performance.now() + MISSING_MS;
    }
  };
  return () => {
    if (performance.now() >= due) void refresh();
    return last;
  };
}
