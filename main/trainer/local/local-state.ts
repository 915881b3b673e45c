/** What the local engine keeps in a checkpoint: weights as PEFT (or transformers) writes them, and the moments. */
import { join } from 'node:path';
import { hasChecksums } from '../../model/checksums.ts';
import { modelFiles } from '../../model/export.ts';
import { encodeAdapter } from '../../model/peft.ts';
import { readConfigToCopy } from '../../model/read-json.ts';
import { openSafetensors, safetensorsPieces } from '../../model/safetensors.ts';
import { changesReference } from '../config/config.ts';
import type { CheckpointFile } from '../engine/engine.ts';
import { OPTIMIZER_FILE, REFERENCE_FILE } from '../policy/checkpoint-names.ts';
import { referenceTensors, restoreReference } from '../policy/reference.ts';
import { STARTING_MODEL } from '../policy/starting-weights.ts';
import type { Session } from './session.ts';
import { checkStartingModel } from './starting-model.ts';

/** The files of a checkpoint; large ones are read when they are written. */
export function checkpointFiles(session: Session): readonly CheckpointFile[] {
  const { policy, reference, start, optimizer, config, startingModel } = session;
  const baseConfig = readConfigToCopy(start.modelFolder);
  const weights =
    policy.adapter === null
      ? modelFiles(policy.model, { baseConfig })
      : encodeAdapter(policy.adapter, start.modelFolder);
  const synced: CheckpointFile[] =
    changesReference(config) && reference !== null
      ? [[REFERENCE_FILE, safetensorsPieces(referenceTensors(reference))]]
      : [];
  return [
    ...Object.entries(weights),
    [OPTIMIZER_FILE, safetensorsPieces(optimizer.stateTensors())],
    [STARTING_MODEL, `${JSON.stringify(startingModel, null, 2)}\n`],
    ...synced,
  ];
}

/** Restores optimiser and reference. Weights were loaded when the session opened. */
export function loadState(folder: string, session: Session): void {
  const { optimizer, start, reference } = session;
  checkStartingModel(folder, session);
  const file = openSafetensors(join(folder, OPTIMIZER_FILE), { finite: !hasChecksums(folder) });
  try {
    optimizer.readState({
      size: (name) => file.entries.get(name)?.shape.reduce((a, b) => a * b, 1),
      read: file.read,
    });
  } finally {
    file.close();
  }
  if (changesReference(start.config) && reference !== null)
    restoreReference(reference, join(folder, REFERENCE_FILE), !hasChecksums(folder));
}
