import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { modelFingerprint } from '../../../main/services/comparisons/paired/fingerprint.ts';
import { askedAlike, endedBy } from '../../../main/trainer/policy/asked-alike.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

let root: string;
beforeEach(() => {
  root = temporaryFolder();
});

/** A model's folder; `system`: of the run that it is a checkpoint of. */
function model(name: string, system: string | null = null) {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), '{}');
  const chat = { system_prompt: system, chat_template_kwargs: { enable_thinking: false } };
  if (system !== null) writeFileSync(join(folder, 'chat_settings.json'), JSON.stringify(chat));
  return { name, base: folder, adapter: null, tokenizer: folder };
}

describe('askedAlike', () => {
  it('asks the baseline as the first checkpoint with a system prompt, and the others as they are', () => {
    const models = [model('base'), model('plain'), model('brief', 'Be brief.'), model('long', 'Be long.')];
    const [baseline, ...others] = askedAlike(models);
    expect(baseline?.askedAs).toBe('brief');
    expect(baseline?.chat).toEqual({
      system_prompt: 'Be brief.',
      chat_template_kwargs: { enable_thinking: false },
      reply_prompt: null,
    });
    for (const { askedAs, chat } of others) expect({ askedAs, chat }).toEqual({ askedAs: null });
  });

  it('leaves a baseline with a system prompt of its own, and one without a checkpoint that has any', () => {
    for (const models of [
      [model('polite', 'Be polite.'), model('brief', 'Be brief.')],
      [model('base'), model('plain')],
    ])
      expect(askedAlike(models).map(({ askedAs, chat }) => [askedAs, chat])).toEqual(
        models.map(() => [null, undefined]),
      );
  });

  it('makes answers that were asked for otherwise others', () => {
    const [base, brief] = [model('base'), model('brief', 'Be brief.')];
    const [asked] = askedAlike([base, brief]);
    expect(modelFingerprint(asked ?? base)).not.toBe(modelFingerprint(base));
    const before = modelFingerprint(brief);
    expect(modelFingerprint(model('brief', 'Be very brief.'))).not.toBe(before);
  });
});

describe('endedBy', () => {
  it('ends answers at other texts, asked otherwise as before', () => {
    const brief = model('brief', 'Be brief.');
    expect(endedBy(brief, null)).toBe(brief);
    const ended = endedBy(brief, ['END']);
    expect(ended.chat).toMatchObject({ system_prompt: 'Be brief.', stop_strings: ['END'] });
    expect(endedBy(ended, []).chat?.stop_strings).toEqual([]);
    expect(modelFingerprint(ended)).not.toBe(modelFingerprint(brief));
  });
});
