import { isDeepStrictEqual } from 'node:util';
import { inputError } from '../../errors.ts';
import {
  listEngines,
  removeEngine,
  requireEngine,
  requireNoServer,
  saveEngine,
} from '../../services/engines/engines.ts';
import { clusterToken, engineKey, setClusterToken, setEngineKey } from '../../services/engines/keys.ts';
import type { ServerLauncher } from '../../services/engines/server-launcher.ts';
import { ruleWords, testEngine } from '../../services/engines/test-engine.ts';
import { type ApiContext, api } from '../context.ts';
import type { EngineList } from '../contract/engines.ts';

export const engines = {
  list: api.engines.list.handler(({ context }) => views(context)),
  save: api.engines.save.handler(({ context, input: { launcher, ...entry } }) => {
    const { app } = context;
    const before = listEngines(app.engines).find(({ name }) => name === entry.name)?.launcher ?? null;
    if (launcher !== undefined && !isDeepStrictEqual(launcher, before)) checkLauncher(context, launcher);
    saveEngine(app.engines, launcher === undefined ? entry : { ...entry, launcher });
    return changed(context);
  }),
  remove: api.engines.remove.handler(({ context, input }) => {
    requireNoServer(context.app.records, input.name);
    removeEngine(context.app.engines, input.name);
    return changed(context);
  }),
  setKey: api.engines.setKey.handler(({ context, input }) => {
    setEngineKey(context.app.secrets, requireEngine(context.app.engines, input.name), input.key);
    return changed(context);
  }),
  setClusterToken: api.engines.setClusterToken.handler(({ context, input }) => {
    setClusterToken(context.app.secrets, requireEngine(context.app.engines, input.name), input.token);
    return changed(context);
  }),
  test: api.engines.test.handler(async ({ context: { app }, input }) => {
    const result = await testEngine(requireEngine(app.engines, input.name), app);
    return { ...result, words: ruleWords(result) };
  }),
  start: api.engines.start.handler(async ({ context: { app }, input }) => {
    try {
      return await app.servers.up(requireEngine(app.engines, input.name));
    } finally {
      app.changes.publish('engines');
    }
  }),
  stop: api.engines.stop.handler(async ({ context: { app }, input }) => {
    try {
      return await app.servers.down(input.name);
    } finally {
      app.changes.publish('engines');
    }
  }),
  look: api.engines.look.handler(({ context: { app }, input }) => app.servers.status(input.name)),
  forget: api.engines.forget.handler(({ context: { app }, input }) => {
    const status = app.servers.forget(input.name);
    app.changes.publish('engines');
    return status;
  }),
  log: api.engines.log.handler(async ({ context: { app }, input }) => ({ text: await app.servers.log(input.name) })),
};

/** A launcher is a command of this machine's user: a page that anyone with its address can open doesn't bring one. */
function checkLauncher({ host, access }: ApiContext, launcher: ServerLauncher | null): void {
  if (!host.mayLaunch)
    throw inputError(
      'LAUNCHER_NOT_FROM_PAGE',
      "A page in a browser can start and stop an engine's server, and not say by which command",
      'Use `braid engine launcher` on this machine, or start `braid serve` with --allow-launchers.',
    );
  if (launcher?.kind === 'ray' && launcher.workingDir !== null) access.check(launcher.workingDir);
}

function changed(context: ApiContext): EngineList {
  context.app.changes.publish('settings');
  context.app.changes.publish('engines');
  return views(context);
}

function views({ app: { engines: file, secrets, servers }, host: { mayLaunch } }: ApiContext): EngineList {
  const known = new Map(servers.list().map((server) => [server.engine, server]));
  const all = listEngines(file).map((engine) => ({
    ...engine,
    hasKey: engineKey(secrets, engine) !== null,
    hasClusterToken: engine.launcher?.kind === 'ray' ? clusterToken(secrets, engine.launcher) !== null : null,
    server: known.get(engine.name) ?? null,
  }));
  return { engines: all, mayLaunch };
}
