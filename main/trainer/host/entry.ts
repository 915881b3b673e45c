/** The trainer process. Its host starts it, sends one job, then commands; it sends batches of events. */

import { runJob } from '../jobs/run-job.ts';
import { runTraining } from '../run.ts';
import { openControl } from './control.ts';
import { type HostEvent, openHostPort } from './host-port.ts';
import { applyPriority } from './priority.ts';

/** Heartbeat interval of an idle or paused process; a working one sends heartbeats as it goes. */
const IDLE_BEAT_MS = 5000;
const BUSY_BEAT_MS = 1000;

applyPriority();
const port = openHostPort();
let queue: HostEvent[] = [];
let delivered: Promise<unknown> = Promise.resolve();
let lastBeat = 0;

/** Events of one turn are sent together: the host stores a batch in one transaction. */
function emit(event: HostEvent): void {
  if (event.kind === 'alive') beat();
  else if (event.kind === 'text') void port.send([event]);
  else if (queue.push(event) === 1) setImmediate(flush);
}

/** Sent immediately, even during synchronous work, but not at every token. */
function beat(): void {
  if (performance.now() - lastBeat < BUSY_BEAT_MS) return;
  lastBeat = performance.now();
  void port.send([{ kind: 'alive', memoryBytes: process.memoryUsage.rss() }]);
}

function flush(): void {
  const batch = queue;
  queue = [];
  if (batch.length > 0) delivered = port.send(batch);
}

const control = openControl(emit);

// Ctrl-C, a closed terminal and the end of a service, batch job or session reach every process; the host decides what
// they mean and sends a command. It ends this process with SIGKILL, and a host that is gone closes the port.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);
port.onMessage((message) => {
  switch (message.kind) {
    case 'pause':
    case 'resume':
    case 'stop':
      return control.receive(message);
    case 'start': {
      const idle = setInterval(beat, IDLE_BEAT_MS);
      return void runTraining(message, control, emit).then(() => {
        clearInterval(idle);
        return end();
      });
    }
    default:
      return void runJob(message, emit).then(end);
  }
});

/** Closing the channel at once would truncate a long last message. */
async function end(): Promise<void> {
  flush();
  await delivered;
  port.close();
}
