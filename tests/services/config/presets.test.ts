import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  parseConfigText,
  presetNames,
  readConfigChoice,
  readConfigFile,
  readPreset,
} from '../../../main/services/config/presets.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const paths = { resources: resolve(import.meta.dirname, '../../../resources') };

function file(content: string): string {
  const path = join(temporaryFolder(), 'run.yaml');
  writeFileSync(path, content);
  return path;
}

describe('readConfigFile', () => {
  it('names file, line and field, and what was probably meant', () => {
    const path = file('task: reply\n# two that are wrong\nlearning_rte: 1e-3\nmax_steps: 0\nkl_coeff: 0.2\n');
    expect(() => readConfigFile(path)).toThrow(
      new RegExp(
        [
          'run.yaml, line 3: unknown field "learning_rte"; did you mean "learning_rate"\\?',
          'run.yaml, line 4: "max_steps": .*got 0',
          'run.yaml, line 5: unknown field "kl_coeff"; did you mean "beta"\\?',
        ].join('\n[^\n]*'),
      ),
    );
  });

  it('counts the faults that it does not show', () => {
    const many = Array.from({ length: 30 }, (_, i) => `strange_${i}: 1\n`).join('');
    expect(() => readConfigFile(file(many))).toThrow(/strange_19"\nand 10 more$/);
  });

  it('names the line of invalid YAML, and rejects a file without fields', () => {
    expect(() => readConfigFile(file('task: reply\nmodel: [a\n'))).toThrow(/line [23]: /);
    expect(() => readConfigFile(file('- a\n'))).toThrow('expected fields with values, got ["a"]');
    for (const nothing of ['', '# task: reply\n'])
      expect(() => readConfigFile(file(nothing))).toThrow('expected fields with values, but there are none');
    expect(() => readConfigFile('nowhere.yaml')).toThrow('nowhere.yaml: the file does not exist');
  });
});

describe('parseConfigText', () => {
  it('reads content from a page, with the same errors', () => {
    expect(parseConfigText('mine.yaml', 'seed: 5\n')).toEqual({ seed: 5 });
    expect(() => parseConfigText('mine.yaml', 'seed: 5\ntemprature: 1\n')).toThrow(
      'mine.yaml, line 2: unknown field "temprature"; did you mean "temperature"?',
    );
  });
});

describe('presets', () => {
  it('are all complete configurations', () => {
    const names = presetNames(paths);
    for (const name of ['baseline', 'polychromic', 'grpo_from_baseline', 'polychromic_grpo', 'interleave-tiny'])
      expect(names).toContain(name);
    for (const name of names) expect(() => parseConfig(readPreset(name, paths), name)).not.toThrow();
  });

  it('are found by name, files by path', () => {
    expect(readConfigChoice('baseline', paths)).toEqual(readPreset('baseline', paths));
    expect(readConfigChoice(file('seed: 5\n'), paths)).toEqual({ seed: 5 });
    expect(() => readConfigChoice('basline', paths)).toThrow(/a preset, one of baseline, .*got "basline"/);
  });
});
