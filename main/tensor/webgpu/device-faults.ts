/** What the device reports besides its answers: faults of commands that nobody waited for, and that it is lost. */
import { setTimeout as pause } from 'node:timers/promises';
import type { GpuFault, Reply } from './protocol.ts';

/** How long the news of a lost device may take after the first work that failed for it. */
const NEWS_MS = 500;
const LOOK_MS = 10;

type Failed = Extract<Reply, { ok: false }>;

export class DeviceFaults {
  readonly #device: Pick<GPUDevice, 'queue'>;
  readonly #lost: Promise<void>;
  #fault: Failed | null = null;
  #closed = false;

  constructor(device: Pick<GPUDevice, 'queue' | 'lost' | 'addEventListener'>) {
    this.#device = device;
    device.addEventListener('uncapturederror', (event) => {
      const { error } = event as GPUUncapturedErrorEvent;
      const fault = error.constructor.name === 'GPUOutOfMemoryError' ? 'out-of-memory' : 'invalid';
      this.#fault ??= failed(fault, error.message);
    });
    this.#lost = device.lost.then((info) => {
      // To look into it while the thread is being ended would end the process.
      if (!this.#closed) this.#fault = failed('lost', info.message);
    });
  }

  /** The device is about to be destroyed: its loss is expected. */
  close(): void {
    this.#closed = true;
  }

  /** A lost device, which is why everything else fails. */
  get lost(): Failed | null {
    return this.#fault?.fault === 'lost' ? this.#fault : null;
  }

  /** What went wrong since it was last asked; a lost device stays lost. */
  take(): Failed | null {
    const fault = this.#fault;
    if (fault?.fault !== 'lost') this.#fault = null;
    return fault;
  }

  /**
   * Why work was refused with `error`. A driver's reset rejects what waits, and only then may Dawn say that the device
   * is lost: a run could not know that it can resume.
   */
  async reasonOf(error: unknown): Promise<Failed> {
    for (const end = performance.now() + NEWS_MS; this.lost === null && performance.now() < end; ) {
      // Dawn hands out its news while something is waited for.
      this.#device.queue.onSubmittedWorkDone().catch(() => undefined);
      await Promise.race([this.#lost, pause(LOOK_MS)]);
    }
    return this.take() ?? failed('invalid', messageOf(error));
  }
}

function failed(fault: GpuFault, message: string): Failed {
  return { ok: false, fault, message };
}

/** Some of Dawn's errors have no message, only a name. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
