/** A task for an OpenEnv server that runs: its forms come from the server's schemas, its records from how episodes begin. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { removeFolderSync } from '../../io/remove-folder.ts';
import { type ExternalAccess, reachOf } from '../../tasks/external/access.ts';
import { TASK_FILE } from '../../tasks/folder/definition.ts';
import { openProspect, type Prospect } from '../../tasks/openenv/environment.ts';
import { suggestedMessage } from '../../tasks/openenv/fit.ts';
import type { Description } from '../../tasks/openenv/messages.ts';
import { checkOpenEnv, ENVIRONMENT, type OpenEnvSpec, pagesOf } from '../../tasks/openenv/spec.ts';
import { openSecrets, type Secrets } from '../workspace/secrets.ts';
import { originOf, rewardKey } from './reward-keys.ts';
import { type ServedTaskForm, servedTaskText } from './served-task-text.ts';

export type ServedSettings = Readonly<Record<string, string>>;

const NUMBERS = { size: 200, test_size: 48, seed: 42, max_turns: 8 };
const WHOLE = '{observation}';

/** Fills a folder with the task of the server at `url`, which the user has named. */
export function makeServedTask(
  folder: string,
  { url = '', ...settings }: ServedSettings,
  worker: string,
  secrets: Pick<Secrets, 'get'> = openSecrets(),
): void {
  const { size, test_size, seed, max_turns } = numbersOf(settings);
  const server = serverAt(url);
  const key = rewardKey(secrets, pagesOf(url));
  const access = {
    worker,
    allowed: [reachOf(ENVIRONMENT, server, {})?.hash ?? ''],
    keys: key === null ? {} : { [originOf(pagesOf(url))]: key },
  } satisfies Partial<ExternalAccess>;
  const prospect = openProspect({ server, component: 'reward', maxTurns: 1, files: {} }, access);
  try {
    const description = prospect.describe();
    if (typeof description === 'string') throw noServer(url, description);
    const begins = beginningsOf(prospect, description, url, seed, size + test_size);
    for (const name of readdirSync(folder)) if (!name.endsWith('.d.ts')) removeFolderSync(join(folder, name));
    writeFileAtomic(join(folder, TASK_FILE), servedTaskText(description, { url, ...begins, maxTurns: max_turns }));
    writeFileAtomic(join(folder, 'records.jsonl'), linesOf(begins.records.slice(0, size)));
    writeFileAtomic(join(folder, 'records.test.jsonl'), linesOf(begins.records.slice(size)));
  } finally {
    prospect.close();
  }
}

function numbersOf(settings: ServedSettings): typeof NUMBERS {
  const numbers = { ...NUMBERS };
  for (const [name, text] of Object.entries(settings)) {
    if (!Object.hasOwn(NUMBERS, name))
      throw inputError(
        'BAD_OPTION',
        `The template openenv has no setting "${name}"`,
        `It has url, ${Object.keys(NUMBERS).join(', ')}.`,
      );
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0 || value > 100_000)
      throw inputError('BAD_OPTION', `Expected ${name} to be a whole number up to 100000, got "${text}"`);
    numbers[name as keyof typeof NUMBERS] = value;
  }
  return numbers;
}

function serverAt(url: string): OpenEnvSpec {
  const { spec, faults } = checkOpenEnv({ openenv: url, action: '{completion:json}' }, { seed: 'number' });
  const [fault] = faults;
  if (spec !== null && fault === undefined) return spec;
  throw inputError(
    'BAD_OPTION',
    fault?.reason ?? 'Expected the address of an OpenEnv server',
    'For example --set url=ws://127.0.0.1:8000',
  );
}

function noServer(url: string, why: string) {
  return inputError(
    'RECORDS_NOT_MADE',
    `No task was made of ${url}: ${why}`,
    'Start the server and check its address; nothing was kept.',
  );
}

interface Beginnings extends Pick<ServedTaskForm, 'message' | 'isFixed'> {
  readonly records: readonly { readonly seed: number; readonly start?: string }[];
}

/** Resets with one seed after another. A message without words at the beginning gives way to the whole observation. */
function beginningsOf(
  prospect: Prospect,
  { observation }: Description,
  url: string,
  first: number,
  count: number,
): Beginnings {
  const startsOf = (message: string, seeds: readonly number[]): string[] =>
    prospect
      .starts(
        message,
        seeds.map((seed) => ({ seed })),
      )
      .map((one) => {
        if ('text' in one) return one.text;
        throw noServer(url, `reset with a seed: ${one.failure}`);
      });
  const suggested = suggestedMessage(observation);
  const [one = '', again = ''] = startsOf(suggested, [first, first]);
  const message = one.trim() === '' ? WHOLE : suggested;
  const seeds = Array.from({ length: count }, (_, i) => first + i);
  if (one !== again) return { message, isFixed: false, records: seeds.map((seed) => ({ seed })) };
  const starts = startsOf(message, seeds);
  return { message, isFixed: true, records: seeds.map((seed, i) => ({ seed, start: starts[i] ?? '' })) };
}

function linesOf(records: Beginnings['records']): string {
  return records.map((record) => `${JSON.stringify({ id: `seed-${record.seed}`, ...record })}\n`).join('');
}
