/** `braid mcp`: experiments for coding agents, over the Model Context Protocol on standard input and output. */
import { Console } from 'node:console';
import type { Command } from 'commander';
import { controlTools } from '../api/mcp/control-tools.ts';
import { readTools } from '../api/mcp/read-tools.ts';
import { openMcpServer } from '../api/mcp/server.ts';
import { serveLines } from '../api/mcp/stdio.ts';
import { sweepControlTools, sweepReadTools } from '../api/mcp/sweep-tools.ts';
import type { Tool } from '../api/mcp/tool.ts';
import { workspaceTools } from '../api/mcp/workspace-tools.ts';
import { openPathAccess } from '../api/path-access.ts';
import { inputError } from '../errors.ts';
import { markAbandonedRuns } from '../services/runs/runs.ts';
import { followSweeps } from '../services/sweeps/run-here.ts';
import { openSweepRuns } from '../services/sweeps/sweep-runs.ts';
import { leaving, yielding } from '../services/trainer-process/channel.ts';
import { type LiveRuns, openLiveRuns } from '../services/training/live-runs.ts';
import { openForReading } from '../services/workspace/read-only.ts';
import { readSettings } from '../services/workspace/settings.ts';
import { openWorkspace, type Workspace } from '../services/workspace/workspace.ts';
import { openStore } from '../store/index.ts';
import { visible } from '../text/visible.ts';
import { VERSION } from '../version.ts';
import { hostPaths } from './host-paths.ts';
import { commandContext, END_SIGNALS, existingFolders, withCommonOptions } from './shared.ts';

/** How long runs may take to save when the agent has gone. */
const GRACE_MS = 120_000;

const HELP = `
An agent starts this command and talks to it over standard input and output. Without --allow-control it can read runs,
metrics, completions, datasets, models, comparisons, the curriculum, tasks, the report on replies, sweeps, the queue
and settings, and nothing else: the database is opened for reading only. With --allow-control it can also start, stop and resume runs and sweeps and change the queue,
with the checks of the app: their files must lie in the workspace, among the bundled ones or in a folder given by
--allow. Runs that it started end, saved, when it leaves; what it queued stays in the queue, for an app to train. It
can't delete, import, download or export anything. Texts of the workspace reach the agent as they are.`;

const READ = 'Training runs of Braid (GRPO and supervised fine-tuning of language models), for reading.';
const CONTROL =
  'Training runs of Braid (GRPO and supervised fine-tuning of language models). Runs and sweeps can be started, stopped and resumed; those started here are saved and ended when this connection ends. What is queued waits for an open app.';

const OUTSIDE = 'Use a file there, or ask the person to start braid mcp with --allow FOLDER.';

interface McpCommandOptions {
  readonly allowControl: boolean;
  readonly allow: readonly string[];
}

/** What the server offers, and how it ends. */
interface Desk {
  readonly tools: readonly Tool[];
  close(): Promise<void>;
}

/** Adds `mcp` to the program. */
export function registerMcp(program: Command): void {
  withCommonOptions(program.command('mcp'))
    .option('--allow-control', 'let it also start, stop and resume runs and sweeps', false)
    .option('--allow <dir...>', 'with --allow-control: folders outside the workspace that its runs may use', [])
    .addHelpText('after', HELP)
    .action((options: McpCommandOptions, command: Command) => run(options, command));
}

async function run({ allowControl, allow }: McpCommandOptions, command: Command): Promise<void> {
  const context = commandContext(command);
  if (allow.length > 0 && !allowControl)
    throw inputError(
      'BAD_OPTION',
      'Expected --allow only together with --allow-control',
      'Leave it out: reading needs no paths.',
    );
  // Standard output belongs to the protocol, whatever a library says.
  globalThis.console = new Console(process.stderr, process.stderr);
  const desk = allowControl
    ? openControl(context.workspace, existingFolders('--allow', allow))
    : openReading(context.workspace);
  const end = new AbortController();
  const abort = (): void => end.abort();
  for (const signal of END_SIGNALS) process.once(signal, abort);
  try {
    const instructions = allowControl ? CONTROL : READ;
    const answer = openMcpServer({ version: VERSION, instructions, tools: desk.tools });
    context.say(`braid mcp: ${context.workspace.root}, ${allowControl ? 'with control of runs' : 'for reading'}`);
    await serveLines(process.stdin, process.stdout, answer, end.signal);
  } finally {
    await desk.close();
    for (const signal of END_SIGNALS) process.off(signal, abort);
  }
}

function openReading(workspace: Workspace): Desk {
  const store = openForReading(workspace);
  const place = { store, workspace, paths: hostPaths() };
  return {
    tools: [...readTools(place), ...workspaceTools(place), ...sweepReadTools(place)],
    close: async () => store.close(),
  };
}

/** Like `braid train` it takes no lock: its runs appear in an app that has the workspace open. */
function openControl({ root }: Workspace, allow: readonly string[]): Desk {
  const workspace = openWorkspace({ workspace: root });
  const given = hostPaths();
  const paths = { ...given, trainer: leaving(yielding(given.trainer), () => live.promised()) };
  const store = openStore(workspace.database);
  markAbandonedRuns(store);
  const changes = { publish: () => undefined };
  const live: LiveRuns = openLiveRuns(store, { paths, changes, settings: () => readSettings(store) });
  const access = openPathAccess(root, [root, paths.resources, paths.datasets, ...allow], { remedy: OUTSIDE });
  const place = { store, workspace, paths };
  const report = (message: string): void => void process.stderr.write(`braid: ${visible(message)}\n`);
  const notices = { add: ({ message }: { readonly message: string }) => report(message) };
  const sweeps = openSweepRuns(store, { live, changes, notices });
  const host = { store, live, sweeps, paths, report };
  followSweeps(host);
  return {
    tools: [
      ...[...readTools(place), ...workspaceTools(place), ...sweepReadTools(place)],
      ...[...controlTools(place, live, access), ...sweepControlTools(host, access)],
    ],
    close: async () => {
      for (const { id, pid } of store.sweeps.list('running'))
        if (pid === process.pid) sweeps.pause(id, 'The agent that ran it disconnected');
      await live.close(GRACE_MS);
      store.close();
    },
  };
}
