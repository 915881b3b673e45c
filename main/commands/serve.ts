/** `braid serve`: the app in a browser. */
import type { Command } from 'commander';
import { openPathAccess } from '../api/path-access.ts';
import { serve } from '../serve.ts';
import { openApp } from '../services/app/app.ts';
import { openAllowedFolders } from '../services/workspace/allowed-folders.ts';
import { surviveRejections } from '../services/workspace/stray-faults.ts';
import { VERSION } from '../version.ts';
import { stillUp } from './engine-server.ts';
import { hostPaths } from './host-paths.ts';
import { commandContext, END_SIGNALS, existingFolders, portNumber, withCommonOptions } from './shared.ts';

/** Adds `serve` to the program. */
export function registerServe(program: Command): void {
  withCommonOptions(program.command('serve'))
    .option('--port <n>', 'port; 0: any free one', '4127')
    .option('--allow <dir...>', 'folders outside the workspace that the app may use (models, texts)', [])
    .option(
      '--allow-launchers',
      'let the page say what runs as you: commands that start servers, sources of native code',
    )
    .action((options: ServeOptions, command: Command) => run(options, command));
}

interface ServeOptions {
  readonly port: string;
  readonly allow: readonly string[];
  readonly allowLaunchers?: boolean;
}

async function run(options: ServeOptions, command: Command) {
  const context = commandContext(command);
  const port = portNumber('--port', options.port, 0);
  const allowed = existingFolders('--allow', options.allow);
  const paths = hostPaths();
  const app = openApp({ workspace: context.workspace.root, paths, what: 'braid serve' });
  const endSurviving = surviveRejections(app.notices);
  try {
    const { root } = app.workspace;
    const access = openPathAccess(root, [root, paths.resources, paths.datasets, ...allowed], {
      kept: openAllowedFolders(),
    });
    const mayLaunch = options.allowLaunchers === true;
    const host = { kind: 'serve', version: VERSION, dialogs: null, mayLaunch } as const;
    const serving = await serve({ context: { app, host, access }, page: paths.page, port });
    // Whoever reads the address may ask for the end at once.
    const asked = untilAsked();
    context.print(`Braid is at ${serving.url}`);
    context.say('Anyone with this address can use it. Ctrl-C saves running training and exits.');
    context.out({ url: serving.url, port: serving.port, workspace: root });
    await asked;
    context.say('Saving and exiting.');
    for (const line of stillUp(app.servers.list())) context.say(line);
    await serving.close();
  } finally {
    await app.close();
    endSurviving();
  }
}

/** Resolves on Ctrl-C or SIGTERM; a second one kills the process at once, as the system does. */
function untilAsked(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of END_SIGNALS) process.once(signal, () => resolve());
  });
}
