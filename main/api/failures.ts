/** Errors as sent to the page: typed, in plain words, without internals of the host. */
import { ORPCError, os, ValidationError } from '@orpc/server';
import { BraidError } from '../errors.ts';
import type { App } from '../services/app/app.ts';
import { whenUnlocked } from '../services/workspace/when-unlocked.ts';
import { databaseError, isLocked } from '../store/errors.ts';
import { visibleFault } from '../text/visible.ts';

/** Middleware: turns anything a procedure throws, even in the middle of a stream, into REFUSED or FAILED. */
export const explained = os.middleware(async ({ next }) => {
  try {
    const result = await next();
    return isStream(result.output) ? { ...result, output: explainedStream(result.output) } : result;
  } catch (error) {
    throw toFailure(error);
  }
});

function isStream(output: unknown): output is AsyncIterable<unknown> {
  return typeof output === 'object' && output !== null && Symbol.asyncIterator in output;
}

async function* explainedStream(stream: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  try {
    yield* stream;
  } catch (error) {
    throw toFailure(error);
  }
}

/** The page's error for a thrown value. */
export function toFailure(thrown: unknown): ORPCError<string, unknown> {
  const error = databaseError(thrown, 'of this workspace');
  if (error instanceof BraidError) {
    const { code, message, remedy = null } = error;
    return failure(error.kind === 'input' ? 'REFUSED' : 'FAILED', message, code, remedy);
  }
  if (error instanceof ORPCError) return error.cause instanceof ValidationError ? badInput(error.cause) : error;
  process.stderr.write(`braid: ${visibleFault(error)}\n`);
  const message = `Something went wrong in the app: ${error instanceof Error ? error.message : String(error)}`;
  return failure('FAILED', message, 'UNEXPECTED', 'Stored data was not changed. The log has the details.');
}

/** What is wrong with an input may quote it. */
const MAX_ISSUE = 300;

function badInput({ issues }: ValidationError): ORPCError<string, unknown> {
  const described = issues.slice(0, 5).map(({ path = [], message }) => {
    const where = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    const told = message.slice(0, MAX_ISSUE);
    return where === '' ? told : `"${where.slice(0, MAX_ISSUE)}": ${told}`;
  });
  const others = issues.length - described.length;
  const more = others === 0 ? [] : [`and ${others} more`];
  return failure('REFUSED', [...described, ...more].join('; '), 'BAD_REQUEST', null);
}

function failure(code: 'REFUSED' | 'FAILED', message: string, cause: string, remedy: string | null) {
  const status = code === 'REFUSED' ? 422 : 500;
  return new ORPCError(code, { defined: true, status, message, data: { code: cause, remedy } });
}

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
