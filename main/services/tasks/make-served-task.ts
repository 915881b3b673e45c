/** A task for an OpenEnv server: its forms come from the server's schemas or the user, its records from how episodes begin. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { parseJson } from '../../io/json.ts';
import { removeFolderSync } from '../../io/remove-folder.ts';
import { reachOf } from '../../tasks/external/access.ts';
import { TASK_FILE } from '../../tasks/folder/definition.ts';
import { openProspect, type Prospect } from '../../tasks/openenv/environment.ts';
import { fitFaults, suggestedAction, suggestedMessage } from '../../tasks/openenv/fit.ts';
import type { Description } from '../../tasks/openenv/messages.ts';
import { checkOpenEnv, ENVIRONMENT, type OpenEnvSpec } from '../../tasks/openenv/spec.ts';
import { type ServerField, servedTaskText, serverFields } from './served-task-text.ts';
import { keysOf, placeIn, type ServerAccess, type ServerChoice, serverOf } from './server-choice.ts';

export type ServedSettings = Readonly<Record<string, string>>;

const NUMBERS = { size: 200, test_size: 48, seed: 42, max_turns: 8 };
const WHOLE = '{observation}';

/** How a server becomes a task; null: as its schemas suggest. */
export interface ServedForms {
  readonly action: OpenEnvSpec['action'] | null;
  readonly message: string | null;
}

/** What a server says of itself, and what that suggests. */
export interface ServerOffer extends Pick<Description, 'name' | 'description'> {
  /** null: it gives no schema. */
  readonly actions: readonly ServerField[] | null;
  readonly observations: readonly ServerField[] | null;
  readonly action: OpenEnvSpec['action'];
  readonly message: string;
  /** What the model reads first in an episode with the first seed. */
  readonly beginning: string;
  /** Whether the same seed began in the same way twice. */
  readonly isFixed: boolean;
}

/** The files of a task. */
export interface ServedTask {
  readonly definition: string;
  readonly records: readonly object[];
  readonly heldOut: readonly object[];
}

/** Asks a server what it is, and plays two beginnings. */
export function readServer(
  choice: ServerChoice,
  access: ServerAccess,
  message: ServedForms['message'],
): Promise<ServerOffer> {
  return asking(choice, access, async (prospect, description) => {
    const { message: shown, beginning, isFixed } = await firstOf(prospect, description, message, NUMBERS.seed);
    return {
      name: description.name,
      description: description.description,
      actions: description.action === null ? null : serverFields(description.action),
      observations: description.observation === null ? null : serverFields(description.observation),
      action: suggestedAction(description.action),
      message: shown,
      beginning,
      isFixed,
    };
  });
}

/** The task of a server by these forms; numbers that are left out have their usual values. */
export function servedTask(
  choice: ServerChoice,
  access: ServerAccess,
  forms: ServedForms,
  numbers: Partial<typeof NUMBERS> = {},
): Promise<ServedTask> {
  const { size, test_size, seed, max_turns } = { ...NUMBERS, ...numbers };
  return asking(choice, access, async (prospect, description) => {
    const action = forms.action === null ? suggestedAction(description.action) : typed(forms.action, description);
    const { message, isFixed } = await firstOf(prospect, description, forms.message, seed);
    checkForms(choice, { action, message }, description);
    const seeds = Array.from({ length: size + test_size }, (_, i) => seed + i);
    const starts = isFixed ? await startsOf(prospect, message, seeds) : null;
    const records = seeds.map((own, i) => ({
      id: `seed-${own}`,
      seed: own,
      ...(starts !== null && { start: starts[i] ?? '' }),
    }));
    return {
      definition: servedTaskText(description, { server: choice, action, message, isFixed, maxTurns: max_turns }),
      records: records.slice(0, size),
      heldOut: records.slice(size),
    };
  });
}

/** The same by the settings of a command, whose user has named the server. */
export function servedTaskBy(
  { url = '', start = '', ...settings }: ServedSettings,
  worker: string,
): Promise<ServedTask> {
  const choice = { address: url, start };
  const numbers = numbersOf(settings);
  const hash = reachOf(ENVIRONMENT, serverOf(choice), {})?.hash ?? '';
  const access = { worker, allowed: [hash], keys: keysOf(choice) };
  return servedTask(choice, access, { action: null, message: null }, numbers);
}

/** Writes it over the copy of a template. */
export function writeServedTask(folder: string, { definition, records, heldOut }: ServedTask): void {
  for (const name of readdirSync(folder)) if (!name.endsWith('.d.ts')) removeFolderSync(join(folder, name));
  writeFileAtomic(join(folder, TASK_FILE), definition);
  writeFileAtomic(join(folder, 'records.jsonl'), linesOf(records));
  writeFileAtomic(join(folder, 'records.test.jsonl'), linesOf(heldOut));
}

async function asking<T>(
  choice: ServerChoice,
  access: ServerAccess,
  work: (prospect: Prospect, description: Description) => Promise<T>,
): Promise<T> {
  const server = serverOf(choice);
  const prospect = openProspect({ server, component: 'reward', maxTurns: 1, files: {} }, access);
  try {
    const description = await prospect.describe();
    if (typeof description === 'string') throw noTask(description);
    return await work(prospect, description);
  } finally {
    await prospect.close();
  }
}

function numbersOf(settings: ServedSettings): Partial<typeof NUMBERS> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, text]) => {
      if (!Object.hasOwn(NUMBERS, name))
        throw inputError(
          'BAD_OPTION',
          `The template openenv has no setting "${name}"`,
          `It has url, start, ${Object.keys(NUMBERS).join(', ')}.`,
        );
      const value = Number(text);
      if (!Number.isInteger(value) || value < 0 || value > 100_000)
        throw inputError('BAD_OPTION', `Expected ${name} to be a whole number up to 100000, got "${text}"`);
      return [name, value];
    }),
  );
}

/** Texts of an action's fields as values: `3` of a field that isn't a text is a number. */
function typed(action: OpenEnvSpec['action'], description: Description): OpenEnvSpec['action'] {
  if (typeof action === 'string') return action;
  const types = new Map(serverFields(description.action).map(({ name, type }) => [name, type]));
  return Object.fromEntries(
    Object.entries(action).map(([name, value]) => [
      name,
      typeof value === 'string' && types.get(name) !== 'string' ? parsed(value) : value,
    ]),
  );
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Refuses forms that the task couldn't use. */
function checkForms(
  choice: ServerChoice,
  { action, message }: Pick<OpenEnvSpec, 'action' | 'message'>,
  description: Description,
): void {
  const { faults } = checkOpenEnv({ ...placeIn(choice), action, message }, { seed: 'number' });
  const [fault] = [...faults.map(({ reason }) => reason), ...fitFaults({ action, message }, description)];
  if (fault !== undefined) throw inputError('BAD_SERVER_FORM', fault, 'Change the form; nothing was kept.');
}

function noTask(why: string) {
  return inputError(
    'RECORDS_NOT_MADE',
    `The OpenEnv server can't be used: ${why}`,
    'Check its address or command, and that it runs; nothing was kept.',
  );
}

async function startsOf(prospect: Prospect, message: string, seeds: readonly number[]): Promise<string[]> {
  const starts = await prospect.starts(
    message,
    seeds.map((seed) => ({ seed })),
  );
  return starts.map((one) => {
    if ('text' in one) return one.text;
    throw noTask(`reset with a seed: ${one.failure}`);
  });
}

/** Two beginnings with one seed. A suggested message without words there gives way to the whole observation. */
async function firstOf(
  prospect: Prospect,
  { observation }: Pick<Description, 'observation'>,
  given: ServedForms['message'],
  seed: number,
): Promise<Pick<ServerOffer, 'message' | 'beginning' | 'isFixed'>> {
  const message = given ?? suggestedMessage(observation);
  const [beginning = '', again = ''] = await startsOf(prospect, message, [seed, seed]);
  if (given !== null || beginning.trim() !== '') return { message, beginning, isFixed: beginning === again };
  return firstOf(prospect, { observation }, WHOLE, seed);
}

function linesOf(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}
