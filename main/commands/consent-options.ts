/** What a command may let a task reach outside Braid: commands that run, addresses that completions are sent to. */
import type { Command } from 'commander';
import { allowReaches, openConsentFile } from '../services/tasks/consent.ts';
import { rewardAccess } from '../services/tasks/reward-access.ts';
import type { ExternalAccess } from '../tasks/external/access.ts';
import type { TaskSource } from '../tasks/index.ts';
import { formatMoney } from '../text/format.ts';
import { hostPaths } from './host-paths.ts';
import type { CommandContext } from './shared.ts';

export interface ConsentOptions {
  readonly allowExternal?: readonly string[];
  readonly allowPlainHttp?: boolean;
}

/** Adds the options to a command. */
export function withConsentOptions(command: Command): Command {
  return command
    .option(
      '--allow-external <hash>',
      'agree to a command or address of the task, by its hash; may be repeated, and is remembered',
      (hash: string, before: readonly string[] = []) => [...before, hash],
    )
    .option('--allow-plain-http', 'with --allow-external: the address may be plain http on another machine');
}

/** Remembers what the options agree to. */
export function agree(source: TaskSource, { allowExternal = [], allowPlainHttp = false }: ConsentOptions): void {
  if (allowExternal.length > 0) allowReaches(source, allowExternal, openConsentFile(), { plain: allowPlainHttp });
}

/** Agrees to what the options say, and gives what the task needs; refuses what nobody has agreed to. */
export function allowedAccess(
  source: TaskSource,
  options: ConsentOptions,
  { workspace }: Pick<CommandContext, 'workspace'>,
): ExternalAccess | null {
  agree(source, options);
  return rewardAccess(source, { workspace: workspace.root, paths: hostPaths() });
}

/** What judges were paid. */
export function paidLine(cost: number): string {
  return `Judges cost ${formatMoney(cost)}, in the currency of their price_per_million; kept answers cost nothing`;
}
