import { describe, expect, it } from 'vitest';
import type { ModelEntry } from '../../../main/services/models/list.ts';
import { modelOptions } from '../../../renderer/components/model-options.ts';
import { modelEntry } from '../model-entry.ts';

const tiny = modelEntry('bundled:tiny', { name: 'tiny', model: 'tiny', folder: '/tiny' });
const run = { id: 3, name: 'run-0003-10words-grpo' };
const checkpoint: ModelEntry = {
  ...tiny,
  ref: 'checkpoint:1',
  kind: 'checkpoint',
  name: `${run.name} · step 20`,
  run,
  checkpointId: 1,
  step: 20,
  checkpointKind: 'final',
};

describe('modelOptions', () => {
  it('groups checkpoints by run, omits deleted ones and marks unreadable models', () => {
    const options = modelOptions([
      tiny,
      { ...tiny, ref: 'folder:/x', kind: 'imported', name: 'x', problem: 'no config' },
      checkpoint,
      { ...checkpoint, ref: 'checkpoint:2', deleted: true, problem: 'deleted' },
      { ...checkpoint, ref: 'checkpoint:3', checkpointKind: 'periodic', abandoned: true },
    ]);
    expect(options).toEqual([
      {
        group: 'Models',
        items: [
          { value: 'bundled:tiny', label: 'tiny', disabled: false },
          { value: 'folder:/x', label: 'x (imported): unreadable', disabled: true },
        ],
      },
      {
        group: run.name,
        items: [
          { value: 'checkpoint:1', label: 'run 3 · step 20, final', disabled: false },
          { value: 'checkpoint:3', label: 'run 3 · step 20, abandoned', disabled: false },
        ],
      },
    ]);
  });

  it('keeps two runs of one name apart', () => {
    const twin = { ...checkpoint, ref: 'checkpoint:9', run: { id: 8, name: run.name } };
    expect(modelOptions([checkpoint, twin]).map(({ group }) => group)).toEqual([
      `${run.name} (run 3)`,
      `${run.name} (run 8)`,
    ]);
  });
});
