import { describe, expect, it } from 'vitest';
import type { ModelEntry } from '../../../main/services/models/list.ts';
import { exportName, memoryFit, modelLines, neighbour } from '../../../renderer/models/model-rows.ts';
import { modelEntry } from '../model-entry.ts';

function entry(ref: string, run: string | null, changes: Partial<ModelEntry> = {}): ModelEntry {
  if (run === null) return modelEntry(ref, { kind: 'workspace', ...changes });
  return modelEntry(ref, { kind: 'checkpoint', run: { id: run === 'run 1' ? 1 : 2, name: run }, ...changes });
}

const models = [entry('tiny', null), entry('a', 'run 1'), entry('b', 'run 1', { deleted: true }), entry('c', 'run 2')];
const lines = modelLines(models, { search: '', deleted: false });
const keys = (given: typeof lines): string[] => given.map(({ key }) => key);

describe('modelLines', () => {
  it('puts each model under its heading, and leaves deleted checkpoints out', () => {
    expect(keys(lines)).toEqual(['Models', 'tiny', 'run 1', 'a', 'run 2', 'c']);
    expect(keys(modelLines(models, { search: '', deleted: true }))).toContain('b');
  });
  it('keeps two runs of one name apart', () => {
    const twins = [
      entry('a', 'twin', { run: { id: 4, name: 'twin' } }),
      entry('b', 'twin', { run: { id: 7, name: 'twin' } }),
    ];
    expect(keys(modelLines(twins, { search: '', deleted: false }))).toEqual(['twin (run 4)', 'a', 'twin (run 7)', 'b']);
  });
  it('searches names and folders', () => {
    expect(keys(modelLines(models, { search: 'MODELS/C', deleted: false }))).toEqual(['run 2', 'c']);
  });
});

describe('exportName', () => {
  it('is a folder name made of the run and the step, or of the model', () => {
    expect(exportName(entry('c', 'grpo beta 0.04/seed_42', { step: 90 }))).toBe('grpo-beta-0.04-seed_42-step-90');
    expect(exportName(entry('tiny', null))).toBe('tiny-export');
    expect(exportName(entry('…odd one', null))).toBe('odd-one-export');
  });
});

describe('neighbour', () => {
  it('steps over headings and stays at the ends', () => {
    expect(neighbour(lines, 'tiny', 1)).toBe('a');
    expect(neighbour(lines, 'a', 1)).toBe('c');
    expect(neighbour(lines, 'c', 1)).toBe('c');
    expect(neighbour(lines, 'tiny', -1)).toBe('tiny');
  });
  it('starts at the first, and is null for an empty list', () => {
    expect(neighbour(lines, null, 1)).toBe('tiny');
    expect(neighbour([], null, 1)).toBeNull();
  });
});

describe('memoryFit', () => {
  it.each([
    [1, 'fits'],
    [5, 'tight'],
    [10, 'too large'],
  ])('rates %i of 4 free and 10 in total', (bytes, verdict) => expect(memoryFit(bytes, 4, 10)).toBe(verdict));
});
