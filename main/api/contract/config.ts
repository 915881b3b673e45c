/** The configuration of a run as a form: its fields, the presets, validation. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { ConfigField, Preset } from '../../services/config/form.ts';
import type { ConfigFault } from '../../trainer/config/config.ts';
import { line, procedure } from './base.ts';

/** More than there are fields: what is misspelt is named, and a page can't bring thousands of keys to be named. */
const MOST_KEYS = 500;

export const configFieldValues = z
  .custom<object>((value) => typeof value === 'object' && value !== null && keysIn(value) <= MOST_KEYS, {
    error: `Expected an object of at most ${MOST_KEYS} fields`,
    abort: true,
  })
  .pipe(z.record(z.string().max(100), z.unknown()));

function keysIn(value: object): number {
  let count = 0;
  for (const _ in value) if (++count > MOST_KEYS) break;
  return count;
}

export const config = {
  fields: procedure.output(type<readonly ConfigField[]>()),
  presets: procedure.output(type<readonly Preset[]>()),
  /** The fields of a YAML file that the user opened; errors are reported by line and field. */
  read: procedure
    .input(z.object({ name: line, text: z.string().max(1_000_000) }))
    .output(type<Readonly<Record<string, unknown>>>()),
  /** Errors in a configuration; omitted fields have their defaults. */
  check: procedure.input(z.object({ config: configFieldValues })).output(type<readonly ConfigFault[]>()),
};
