/**
 * The user's engines: servers of the Tinker protocol, by name. They are in the user's own configuration: a workspace may
 * come from elsewhere, and an address in it would be where prompts go. Their keys are among the secrets.
 */
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import { engineAddress } from '../../trainer/tinker/address.ts';
import { secretsFile } from '../workspace/secrets.ts';
import { openUserFile, type UserFile } from '../workspace/user-file.ts';
import { launcherSchema } from './server-launcher.ts';
import { mayBeUp, type ServerRecords } from './server-records.ts';

const price = z.number().min(0).max(1e6);

export const engineSchema = z.strictObject({
  name: z
    .string()
    .trim()
    .max(64)
    .regex(/^[\w.-]{1,64}$/, 'Expected 1 to 64 letters, digits, dots, dashes or underscores'),
  url: z.string().trim().min(1).max(2000),
  /** The model's name there. */
  baseModel: z.string().trim().min(1).max(500),
  /** Whether an address outside this machine may be http. */
  allowPlain: z.boolean().default(false),
  /** For a million tokens, in the currency of the settings; null: none is known. */
  prices: z.strictObject({ prefill: price, sample: price, train: price }).nullable().default(null),
  /** How its server is started from here; null: it is started elsewhere. */
  launcher: launcherSchema.nullable().default(null),
});

export type EngineEntry = Readonly<z.infer<typeof engineSchema>>;

/** Where the engines are kept. */
export type EngineFile = UserFile<readonly EngineEntry[]>;

/** Opens the file next to the secrets; it is made when the first engine is added. */
export function openEngineFile(file: string = join(dirname(secretsFile()), 'engines.json')): EngineFile {
  return openUserFile<readonly EngineEntry[]>(file, {
    schema: z.array(engineSchema),
    empty: [],
    what: 'the engines that Braid keeps',
    code: 'ENGINES_UNREADABLE',
    remedy: 'Delete the file and add the engines again. Nothing else is in it.',
  });
}

/** All engines, by name. */
export function listEngines(engines: EngineFile): readonly EngineEntry[] {
  return engines.read().toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** Adds an engine, or replaces the one of its name; without a word on its launcher that stays as it is. */
export function saveEngine(engines: EngineFile, given: z.input<typeof engineSchema>): EngineEntry {
  const parsed = engineSchema.safeParse(given);
  if (!parsed.success) throw inputError('BAD_ENGINE', z.prettifyError(parsed.error));
  const { data } = parsed;
  const url = engineAddress(data.url, data.allowPlain);
  if (data.launcher?.kind === 'ray') engineAddress(data.launcher.dashboard, data.launcher.allowPlain);
  let entry: EngineEntry = { ...data, url };
  engines.change((all) => {
    const kept = all.find(({ name }) => name === data.name)?.launcher ?? null;
    entry = { ...entry, launcher: given.launcher === undefined ? kept : data.launcher };
    return [...all.filter(({ name }) => name !== entry.name), entry];
  });
  return entry;
}

/** Forgets an engine; its key and the history of its runs stay. */
export function removeEngine(engines: EngineFile, name: string): void {
  requireEngine(engines, name);
  engines.change((all) => all.filter((entry) => entry.name !== name));
}

/** Refuses where the server of an engine may be up: forgetting the engine would leave it behind. */
export function requireNoServer(records: Pick<ServerRecords, 'read'>, name: string): void {
  const record = records.read(name);
  if (record === null || !mayBeUp(record)) return;
  throw inputError('SERVER_IS_UP', `The server of "${name}" may still be up: ${record.where}`, 'Stop it first.');
}

/** The engine of a name. */
export function requireEngine(engines: EngineFile, name: string): EngineEntry {
  const all = listEngines(engines);
  const found = all.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const known = all.length === 0 ? 'none is set up' : `there is ${all.map((entry) => entry.name).join(', ')}`;
  throw inputError(
    'ENGINE_UNKNOWN',
    `Expected the name of an engine, got "${name}": ${known}`,
    'Add it in Settings, Engines.',
  );
}
