/**
 * The trainer process. Its host forks it, sends one job, then commands; it answers with batches of events. Fork
 * gives a plain Node host's channel; the desktop's utility process has its own port.
 */
import { openControl } from './control.ts';
import type { JobEvent, TrainerCommand, TrainerEvent } from './events.ts';
import type { TrainerJob } from './jobs.ts';
import { runTraining } from './run.ts';
import { runJob } from './run-job.ts';

let queue: (TrainerEvent | JobEvent)[] = [];
/** Settles once the channel has taken all that was sent. */
let delivered: Promise<void> = Promise.resolve();

/** Events of one turn travel together: the host stores a batch in one transaction. */
function emit(event: TrainerEvent | JobEvent): void {
  queue.push(event);
  if (queue.length === 1) setImmediate(flush);
}

function flush(): void {
  const batch = queue;
  queue = [];
  if (batch.length > 0) delivered = new Promise((resolve) => process.send?.(batch, () => resolve()));
}

const control = openControl(emit);

// Ctrl-C reaches the whole terminal group; the host decides what it means and sends a command.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(1));
process.on('message', (message: TrainerJob | TrainerCommand) => {
  switch (message.kind) {
    case 'pause':
    case 'resume':
    case 'stop':
      return control.receive(message);
    case 'start':
      return void runTraining(message, control, emit).then(end);
    default:
      return void runJob(message, emit).then(end);
  }
});

/** Closing the channel at once would cut off a long last message. */
async function end(): Promise<void> {
  flush();
  await delivered;
  process.disconnect();
}
