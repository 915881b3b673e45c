import type { ModelEntry } from '../../main/services/models/list.ts';

/** A bundled model of which nothing but its name is known, or another one. */
export function modelEntry(ref: string, changes: Partial<ModelEntry> = {}): ModelEntry {
  return {
    ref,
    kind: 'bundled',
    name: ref,
    model: ref,
    folder: `/models/${ref}`,
    run: null,
    checkpointId: null,
    step: null,
    checkpointKind: null,
    createdAt: null,
    heldOut: null,
    architecture: null,
    parameters: null,
    deleted: false,
    abandoned: false,
    problem: null,
    ...changes,
  };
}
