/** A task whose environment is the double, as a program that Braid starts. */
import { join, resolve } from 'node:path';
import { type ExternalAccess, reachOf } from '../../../main/tasks/external/access.ts';
import { checkDefinition, outsideParts } from '../../../main/tasks/folder/definition.ts';
import type { FolderSource } from '../../../main/tasks/folder/source.ts';
import { processPaths } from '../../processes/paths.ts';

const root = resolve(import.meta.dirname, '../../..');
/** Guesses the number that the seed is; the guess 9 kills the server. */
export const DOUBLE = join(root, 'tests/rewards/openenv/double-server.ts');

/** `more`: arguments of the program; `changes`: of the environment's lines. */
export function guessTask(changes: Readonly<Record<string, unknown>> = {}, more: readonly string[] = []): FolderSource {
  const environment = {
    openenv: 'ws://127.0.0.1:{port}',
    command: [process.execPath, DOUBLE, '{port}', ...more],
    action: { guess: '{completion:last-number}' },
    message: '{hint}',
    max_turns: 3,
    ...changes,
  };
  const definition = `title: Guess
fields: { seed: number }
prompt: 'A number from 0 to 9.'
environment: ${JSON.stringify(environment)}
max_completion_length: 64
rewards: { won: 1 }
success_threshold: 1
`;
  return { name: 'guess', folder: '/tasks/guess', definition, reward: '' };
}

/** What a user gives who agrees to all of it. */
export function agreedTo({ definition, files = {} }: FolderSource): ExternalAccess {
  const checked = checkDefinition(definition);
  const parts = 'definition' in checked ? Object.entries(outsideParts(checked.definition)) : [];
  return {
    worker: processPaths().externalRewards,
    allowed: parts.flatMap(([name, spec]) => reachOf(name, spec, files)?.hash ?? []),
    keys: {},
    cacheFolder: '',
    models: {},
    kernelsFile: '',
  };
}
