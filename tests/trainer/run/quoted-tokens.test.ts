import { expect, it } from 'vitest';
import { entryOf } from '../../../main/services/runs/training-log.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { tinyDataset } from '../../tiny-dataset.ts';
import { openTiny, tinyRun } from './tiny-run.ts';

it('a run says at its start which control tokens its texts quote, in its events and its log', async () => {
  const { model } = await openTiny(temporaryFolder());
  const [first, ...others] = tinyDataset().train;
  if (first === undefined) throw new Error('Expected records');
  const quoting = { ...first, words: 2, fragment_a: 'wa <pad>', fragment_b: 'wb wc', target: 'wa wb <pad> wc' };
  const config = { max_steps: 1 };
  // This tokenizer of whole words has no other token for it, so that the target isn't written back.
  const allowed = { ...config, allow_unwritable_words: true };
  const { events } = await tinyRun({ model, config: allowed, records: [quoting, ...others] });
  const notice = events.find((event) => event.kind === 'notice' && event.topic === 'control_tokens');
  if (notice === undefined) throw new Error('Expected a notice');
  expect(notice).toMatchObject({ step: 0, message: expect.stringMatching(/^1 of \d+ records contains <pad>/) });
  expect(entryOf(notice, 0)?.lines.join(' ')).toMatch(/^Note: .*They are read as plain characters/);
  const clean = await tinyRun({ model, config });
  expect(clean.events.filter(({ kind }) => kind === 'notice')).toEqual([]);
});
