/**
 * The trainer process. Its host forks it, sends one `start`, then commands; it answers with batches of events. Fork
 * gives a plain Node host's channel; the desktop's utility process has its own port.
 */
import { openControl } from './control.ts';
import type { TrainerCommand, TrainerEvent } from './events.ts';
import type { TrainerJob } from './jobs.ts';
import { runTraining } from './run.ts';

let queue: TrainerEvent[] = [];

/** Events of one turn travel together: the host stores a batch in one transaction. */
function emit(event: TrainerEvent): void {
  queue.push(event);
  if (queue.length === 1) setImmediate(flush);
}

function flush(): void {
  if (queue.length > 0) process.send?.(queue);
  queue = [];
}

const control = openControl(emit);

// Ctrl-C reaches the whole terminal group; the host decides what it means and sends a command.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(1));
process.on('message', (message: TrainerJob | TrainerCommand) => {
  if (message.kind !== 'start') return control.receive(message);
  void runTraining(message, control, emit).then(() => {
    flush();
    process.disconnect();
  });
});
