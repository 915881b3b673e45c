/** The way to the thread that owns the GPU: requests go out, and the caller waits for the answers. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { startThread } from '../../io/start-thread.ts';
import { pulse } from '../../pulse.ts';
import { faultError } from './faults.ts';
import type { Reply, Request } from './protocol.ts';

/** The way to the device's thread and back. */
export interface Line {
  post(request: Request, transfer: readonly ArrayBuffer[]): void;
  /** Posts and waits for the answer, until `deadline` (of performance.now) at most. */
  ask(request: Request, deadline?: number): Extract<Reply, { ok: true }>;
  end(): Promise<void>;
}

export function openLine(): Line {
  const flag = new Int32Array(new SharedArrayBuffer(8));
  const { port1, port2 } = new MessageChannel();
  const thread = startThread(threadFile(), flag, {
    workerData: { port: port2, flag },
    transferList: [port2],
    name: 'braid-gpu',
  });
  port1.unref();
  return {
    post: (request, transfer) => port1.postMessage(request, [...transfer]),
    ask: (request, deadline) => {
      const before = Atomics.load(flag, 0);
      port1.postMessage(request);
      const reply = waitFor(port1, flag, before, deadline, thread.fault);
      if (reply.ok) return reply;
      throw faultError(reply.fault, reply.message);
    },
    end: async () => {
      port1.close();
      await thread.end();
    },
  };
}

const LOOK_MS = 5000;
/** How long the thread may be without a sign of life, in looks: a driver may take minutes over one kernel. */
const SILENT_LOOKS = (15 * 60_000) / LOOK_MS;

/** The answer to what was posted after `flag[0]` was `before`; `flag[1]` grows while the other thread lives. */
export function waitFor(
  port: MessagePort,
  flag: Int32Array,
  before: number,
  deadline: number = Number.POSITIVE_INFINITY,
  fault: () => string | null = () => null,
): Reply {
  // Looks are counted, not time: a machine that slept for an hour has been silent for one look.
  let [beat, silent] = [Atomics.load(flag, 1), 0];
  const check = (): void => {
    const why = fault();
    if (why !== null) throw faultError('no-thread', why);
  };
  // The counter decides, not the waking: the notification of an earlier reply may come while this one is waited for.
  while (Atomics.load(flag, 0) === before) {
    check();
    const left = deadline - performance.now();
    if (left <= 0) throw faultError('slow', 'it took longer than it was given');
    if (Atomics.wait(flag, 0, before, Math.min(LOOK_MS, left)) !== 'timed-out') continue;
    const now = Atomics.load(flag, 1);
    if (now !== beat) {
      [beat, silent] = [now, 0];
      pulse();
    } else if (++silent > SILENT_LOOKS) throw faultError('lost', 'its thread no longer answers');
  }
  const answer = receiveMessageOnPort(port) as { readonly message: Reply } | undefined;
  if (answer === undefined) check();
  if (answer === undefined) throw new Error('Expected an answer of the GPU thread, got none');
  return answer.message;
}

/** The thread's program: this folder's in a checkout, a file of its own in a build. */
function threadFile(): string {
  const candidates = ['./thread.ts', './webgpu.js', '../webgpu.js'];
  const files = candidates.map((name) => fileURLToPath(new URL(name, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`Expected the GPU thread at one of ${files.join(', ')}`);
  return found;
}
