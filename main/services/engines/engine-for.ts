/** The engine of a run: its configuration names it, the workspace knows its address, the user's secrets its key. */
import { inputError } from '../../errors.ts';
import { type ConfigFault, configFaults, parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import type { RemoteEngine } from '../../trainer/protocol/remote.ts';
import { remoteFaults } from '../../trainer/tinker/refusals.ts';
import { openSecrets, type Secrets } from '../workspace/secrets.ts';
import { type EngineEntry, type EngineFile, openEngineFile, requireEngine } from './engines.ts';
import { engineKey } from './keys.ts';
import { keepInUse, openServerRecords, type ServerRecords } from './server-records.ts';

/** The user's engines and their keys; by default those of this machine. */
export interface EngineAccess {
  readonly engines?: EngineFile;
  readonly secrets?: Pick<Secrets, 'get'>;
  /** What is known of their servers. */
  readonly records?: Pick<ServerRecords, 'touch'>;
}

/** What the trainer needs to reach it; null: the run is computed here. Settings that it can't honour are refused. */
export function engineFor(
  config: TrainConfig,
  { engines = openEngineFile(), secrets = openSecrets() }: EngineAccess = {},
): RemoteEngine | null {
  if (config.engine === null) return null;
  const entry = requireEngine(engines, config.engine);
  const faults = remoteFaults(config);
  const [first] = faults;
  if (first === undefined) return withKey(entry, secrets);
  throw inputError(
    'ENGINE_REFUSES',
    faults.map(({ field, message }) => `${field}: ${message}`).join('; '),
    faults.flatMap(({ remedy }) => remedy ?? []).join(' '),
  );
}

/** Errors of a configuration for its form: its own, and what its engine can't do. */
export function faultsWithEngine(value: unknown): readonly ConfigFault[] {
  const faults = configFaults(value);
  if (faults.length > 0) return faults;
  const config = parseConfig(value);
  return config.engine === null ? [] : remoteFaults(config);
}

/** An engine with its key. */
export function withKey(entry: EngineEntry, secrets: Pick<Secrets, 'get'>): RemoteEngine {
  return { ...entry, key: engineKey(secrets, entry) };
}

/** Does work with an engine, or without one (null); meanwhile its server doesn't count as idle. */
export async function whileInUse<T>(
  engine: Pick<EngineEntry, 'name'> | null,
  { records = openServerRecords() }: Pick<EngineAccess, 'records'>,
  work: () => Promise<T>,
): Promise<T> {
  if (engine === null) return work();
  const end = keepInUse(records, engine.name);
  try {
    return await work();
  } finally {
    end();
  }
}
