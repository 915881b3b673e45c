/** Engines: servers elsewhere that sample and train. No answer contains a key. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import { type EngineEntry, engineSchema } from '../../services/engines/engines.ts';
import { launcherSchema } from '../../services/engines/server-launcher.ts';
import type { EngineTest } from '../../services/engines/test-engine.ts';
import type { ServerStatus } from '../../services/servers/servers.ts';
import { procedure } from './base.ts';

/** An engine as a page sees it. */
export type EngineView = EngineEntry & {
  readonly hasKey: boolean;
  /** Whether a token for its cluster is kept; null: it isn't started on one. */
  readonly hasClusterToken: boolean | null;
  /** Its server as it was last seen; null: it was never started from here. */
  readonly server: ServerStatus | null;
};

export interface EngineList {
  readonly engines: readonly EngineView[];
  /** Whether this page may say what starts a server. */
  readonly mayLaunch: boolean;
}

const name = z.object({ name: z.string().min(1).max(64) });
const secret = z.string().trim().min(1).max(500).nullable();

export const engines = {
  list: procedure.output(type<EngineList>()),
  /** Adds an engine, or replaces the one of its name; without a launcher that stays as it is. */
  save: procedure
    .input(engineSchema.extend({ launcher: launcherSchema.nullable().optional() }))
    .output(type<EngineList>()),
  remove: procedure.input(name).output(type<EngineList>()),
  /** Keeps the key for an engine's address; null forgets it. */
  setKey: procedure.input(name.extend({ key: secret })).output(type<EngineList>()),
  /** Keeps the token for the cluster that starts an engine's server; null forgets it. */
  setClusterToken: procedure.input(name.extend({ token: secret })).output(type<EngineList>()),
  /** Reaches it, samples a group, times a step. */
  test: procedure.input(name).output(type<EngineTest>()),
  /** Starts its server; answers before that does. */
  start: procedure.input(name).output(type<ServerStatus>()),
  /** Ends its server. */
  stop: procedure.input(name).output(type<ServerStatus>()),
  /** Looks at its server now; null: it was never started from here. */
  look: procedure.input(name).output(type<ServerStatus | null>()),
  /** Gives up on a server that nobody can be asked about. */
  forget: procedure.input(name).output(type<ServerStatus>()),
  /** The end of what its server printed. */
  log: procedure.input(name).output(z.object({ text: z.string() })),
};
