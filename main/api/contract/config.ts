/** The configuration of a run as a form: its fields, the presets, what is wrong with what was entered. */
import { type } from '@orpc/contract';
import { z } from 'zod';
import type { ConfigField, Preset } from '../../services/config-form.ts';
import type { ConfigFault } from '../../trainer/config.ts';
import { line, procedure } from './base.ts';

export const configFieldValues = z.record(z.string().max(100), z.unknown());

export const config = {
  fields: procedure.output(type<readonly ConfigField[]>()),
  presets: procedure.output(type<readonly Preset[]>()),
  /** The fields of a YAML file that the person opened; what is wrong with it is named by line and field. */
  read: procedure
    .input(z.object({ name: line, text: z.string().max(1_000_000) }))
    .output(type<Readonly<Record<string, unknown>>>()),
  /** What is wrong with a configuration; fields left out have their defaults. */
  check: procedure.input(z.object({ config: configFieldValues })).output(type<readonly ConfigFault[]>()),
};
