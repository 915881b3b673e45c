/** `braid serve`: the app in a browser. */
import type { Command } from 'commander';
import { openPathAccess } from '../api/path-access.ts';
import { serve } from '../serve.ts';
import { openApp } from '../services/app.ts';
import { hostPaths } from './host-paths.ts';
import { commandContext, wholeNumber, withCommonOptions } from './shared.ts';
import { version } from './version.ts';

/** Adds `serve` to the program. */
export function registerServe(program: Command): void {
  withCommonOptions(program.command('serve'))
    .description('the app in a browser, on 127.0.0.1; over SSH with: ssh -L PORT:127.0.0.1:PORT HOST')
    .option('--port <n>', 'port; 0: any free one', '4127')
    .option('--allow <dir...>', 'folders outside the workspace that pages may name (models, texts)', [])
    .action((options: { readonly port: string; readonly allow: readonly string[] }, command: Command) =>
      run(options, command),
    );
}

async function run(options: { readonly port: string; readonly allow: readonly string[] }, command: Command) {
  const context = commandContext(command);
  const port = wholeNumber('--port', options.port, 0);
  const paths = hostPaths();
  const app = openApp({ workspace: context.workspace.root, paths, what: 'braid serve' });
  try {
    const { root } = app.workspace;
    const access = openPathAccess(root, [root, paths.resources, paths.datasets, ...options.allow]);
    const host = { kind: 'serve', version: version(), dialogs: null } as const;
    const serving = await serve({ context: { app, host, access }, page: paths.page, port });
    context.print(`Braid is at ${serving.url}`);
    context.say('Whoever has this address may use it. Ctrl-C saves what trains and ends.');
    context.out({ url: serving.url, port: serving.port, workspace: root });
    await untilAsked();
    context.say('Saving and ending.');
    await serving.close();
  } finally {
    await app.close();
  }
}

/** Settles at Ctrl-C or a polite kill; a second one ends the process at once, as the system does. */
function untilAsked(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}
