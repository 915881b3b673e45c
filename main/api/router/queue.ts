import { api } from '../context.ts';
import { newRunConfig } from '../run-control.ts';

export const queue = {
  list: api.queue.list.handler(({ context: { app } }) => ({
    places: app.queue.list(),
    held: app.queue.held(),
    heldFor: app.queue.heldFor(),
  })),
  addRun: api.queue.addRun.handler(({ context: { app, access }, input }) => ({
    queuedId: app.queue.addRun(newRunConfig(app, access, input), input.name ?? null),
  })),
  remove: api.queue.remove.handler(({ context, input }) => context.app.queue.remove(input)),
  reorder: api.queue.reorder.handler(({ context, input }) => context.app.queue.reorder(input.keys)),
  retry: api.queue.retry.handler(({ context, input }) => context.app.queue.retry(input.queuedId)),
  release: api.queue.release.handler(({ context }) => context.app.queue.release()),
};
