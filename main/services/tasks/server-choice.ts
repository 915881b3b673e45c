/** An OpenEnv server that has no task yet: where it is, or how it is started, and the consent to ask it. */
import { stringify } from 'yaml';
import { inputError } from '../../errors.ts';
import { type ExternalAccess, placeOf } from '../../tasks/external/access.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { WHOLE_ACTION } from '../../tasks/openenv/fit.ts';
import { checkOpenEnv, type OpenEnvSpec, PORT } from '../../tasks/openenv/spec.ts';
import { commandWords } from '../../text/command-words.ts';
import { openSecrets } from '../workspace/secrets.ts';
import { openConsentFile, requireAllowed } from './consent.ts';
import type { RewardTrust } from './reward-access.ts';
import { originOf, rewardKey } from './reward-keys.ts';

/** As the user names it; an empty text: not given. */
export interface ServerChoice {
  readonly address: string;
  /** The command that starts it, in one line, with {port} for a free port. */
  readonly start: string;
}

/** What a task says of the server. */
export function placeIn({ address, start }: ServerChoice): Pick<OpenEnvSpec, 'openenv'> & { command?: string[] } {
  const command = commandWords(start);
  const openenv = address.trim() === '' && command.length > 0 ? `ws://127.0.0.1:${PORT}` : address.trim();
  return command.length === 0 ? { openenv } : { openenv, command };
}

/** The server, asked in a way that fits any; throws what is wrong with the address or the command. */
export function serverOf(choice: ServerChoice): OpenEnvSpec {
  const { spec, faults } = checkOpenEnv({ ...placeIn(choice), action: WHOLE_ACTION }, { seed: 'number' });
  const [fault] = faults;
  if (spec !== null && fault === undefined) return spec;
  throw inputError(
    'BAD_OPTION',
    fault?.reason ?? 'Expected the address of an OpenEnv server',
    'An address is like ws://127.0.0.1:8000, and a command like python -m my_game.server --port {port}.',
  );
}

/** A task of it that is in no folder, for the user to agree to: an agreement is to the server, not to a task's forms. */
export function serverSource(choice: ServerChoice): FolderSource {
  serverOf(choice);
  const definition = stringify({
    title: 'A server',
    fields: { seed: 'number' },
    prompt: 'Begin.',
    environment: { ...placeIn(choice), action: WHOLE_ACTION, max_turns: 1 },
    max_completion_length: 1,
    rewards: { reward: 1 },
    success_threshold: 0,
  });
  return { name: 'an OpenEnv server', folder: '', definition, reward: '' };
}

/** What asking it needs; refuses a server that the user hasn't agreed to. */
export function serverAccess(
  choice: ServerChoice,
  worker: string,
  { consents = openConsentFile(), secrets }: RewardTrust = {},
): ServerAccess {
  const allowed = requireAllowed(serverSource(choice), consents).map(({ hash }) => hash);
  return { worker, allowed, keys: keysOf(choice, secrets) };
}

export type ServerAccess = Pick<ExternalAccess, 'worker' | 'allowed' | 'keys'>;

/** The key that is kept for its address. */
export function keysOf(choice: ServerChoice, secrets: RewardTrust['secrets'] = openSecrets()): ServerAccess['keys'] {
  const place = placeOf(serverOf(choice));
  const key = place === null ? null : rewardKey(secrets, place);
  return place === null || key === null ? {} : { [originOf(place)]: key };
}
