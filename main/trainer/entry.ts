/** The trainer process. Its host starts it, sends one job, then commands; it answers with batches of events. */
import { openControl } from './control.ts';
import { type HostEvent, openHostPort } from './host-port.ts';
import { takePriority } from './priority.ts';
import { runTraining } from './run.ts';
import { runJob } from './run-job.ts';

/** How often an idle or paused process says that it lives; one at work says so as it goes. */
const IDLE_BEAT_MS = 5000;
const BUSY_BEAT_MS = 1000;

takePriority();
const port = openHostPort();
let queue: HostEvent[] = [];
let delivered: Promise<unknown> = Promise.resolve();
let lastBeat = 0;

/** Events of one turn travel together: the host stores a batch in one transaction. */
function emit(event: HostEvent): void {
  if (event.kind === 'alive') beat();
  else if (event.kind === 'text') void port.send([event]);
  else if (queue.push(event) === 1) setImmediate(flush);
}

/** Leaves at once, in the middle of synchronous work, but not at every token. */
function beat(): void {
  if (performance.now() - lastBeat < BUSY_BEAT_MS) return;
  lastBeat = performance.now();
  void port.send([{ kind: 'alive' }]);
}

function flush(): void {
  const batch = queue;
  queue = [];
  if (batch.length > 0) delivered = port.send(batch);
}

const control = openControl(emit);

// Ctrl-C reaches the whole terminal group; the host decides what it means and sends a command.
process.on('SIGINT', () => undefined);
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

/** Closing the channel at once would cut off a long last message. */
async function end(): Promise<void> {
  flush();
  await delivered;
  port.close();
}
