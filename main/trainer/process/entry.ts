/** The trainer process. Its host starts it, sends one job, then commands; it sends batches of events. */

import { openInbox } from '../jobs/keep-model/inbox.ts';
import { runJob } from '../jobs/run-job.ts';
import { openControl } from '../loops/control.ts';
import { runTraining } from '../run/run.ts';
import { openHostPort } from './host-port.ts';
import { openOutbox } from './outbox.ts';
import { applyPriority } from './priority.ts';

/** Heartbeat interval of an idle or paused process; a working one sends heartbeats as it goes. */
const IDLE_BEAT_MS = 5000;

applyPriority();
const port = openHostPort();
const { emit, beat, flush } = openOutbox(port.send);
const control = openControl(emit);
const inbox = openInbox();

// Ctrl-C, a closed terminal and the end of a service, batch job or session reach every process; the host decides what
// they mean and sends a command. It ends this process with SIGKILL, and a host that is gone closes the port.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined);
port.onMessage((message) => {
  switch (message.kind) {
    case 'pause':
    case 'resume':
    case 'stop':
      inbox.receive(message);
      return control.receive(message);
    case 'ask':
    case 'cancel':
      return inbox.receive(message);
    case 'start': {
      const idle = setInterval(beat, IDLE_BEAT_MS);
      return void runTraining(message, control, emit).then(() => {
        clearInterval(idle);
        return end();
      });
    }
    default:
      return void runJob(message, emit, inbox).then(end);
  }
});

/** Closing the channel at once would truncate a long last message. */
async function end(): Promise<void> {
  await flush();
  port.close();
}
