/** Requests that find the database locked by another program: tried once more when it is free, while pages stay alive. */
import { os } from '@orpc/server';
import type { App } from '../services/app/app.ts';
import { whenUnlocked } from '../services/workspace/when-unlocked.ts';
import { isLocked } from '../store/errors.ts';

/** A page waits this long before it shows who holds the database. */
const PATIENCE_MS = 3000;

/** Middleware: repeats a procedure of which nothing was stored yet. */
export const patient = os
  .$context<{ readonly app: Pick<App, 'store'> }>()
  .middleware(async ({ context, next, signal }) => {
    const { store } = context.app;
    const before = store.changes();
    try {
      return await next();
    } catch (error) {
      if (!isLocked(error) || store.changes() !== before) throw error;
      if (!(await whenUnlocked(store, PATIENCE_MS, signal))) throw error;
      return await next();
    }
  });
