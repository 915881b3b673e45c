/**
 * How a model is spoken to: the system prompt, the chat template's own switches, the prompt of posts without one, and
 * the texts that end its answers.
 * A checkpoint carries them in `chat_settings.json`, so that it is evaluated, compared and exported as it was trained.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { readSettings } from './read-json.ts';

/** Values that the template gets as variables (transformers' `apply_chat_template(**kwargs)`). */
export const templateKwargs = z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()]));

const schema = z.object({
  system_prompt: z.string().min(1).nullable().default(null),
  chat_template_kwargs: templateKwargs.default({}),
  reply_prompt: z.string().min(1).nullable().default(null),
  stop_strings: z.array(z.string().min(1)).nullable().exactOptional(),
});

export type ChatSettings = Readonly<z.infer<typeof schema>>;

export const CHAT_SETTINGS = 'chat_settings.json';
export const NO_CHAT_SETTINGS: ChatSettings = { system_prompt: null, chat_template_kwargs: {}, reply_prompt: null };

/** A folder's settings; none where it has no such file. */
export function readChatSettings(folder: string): ChatSettings {
  const file = join(folder, CHAT_SETTINGS);
  if (!existsSync(file)) return NO_CHAT_SETTINGS;
  const { data, error } = schema.safeParse(readSettings(file));
  if (data !== undefined) return data;
  const issue = error.issues[0];
  throw inputError(
    'BAD_CHAT_SETTINGS',
    `${file}: "${issue?.path.join('.')}": ${issue?.message}`,
    'Copy the folder again, or delete this file to speak to the model without a system prompt.',
  );
}

/** The file's content; null where there is nothing to say. */
export function encodeChatSettings({
  system_prompt,
  chat_template_kwargs,
  reply_prompt,
  stop_strings,
}: ChatSettings): string | null {
  const stops = stop_strings ?? [];
  const isSpokenTo = system_prompt !== null || Object.keys(chat_template_kwargs).length > 0 || reply_prompt !== null;
  if (!isSpokenTo && stops.length === 0) return null;
  const settings = {
    system_prompt,
    chat_template_kwargs,
    ...(reply_prompt !== null && { reply_prompt }),
    ...(stops.length > 0 && { stop_strings: stops }),
  };
  return `${JSON.stringify(settings, null, 2)}\n`;
}

/**
 * A chat template with the settings in it, for programs that read the template and not our file. The switches always
 * hold: such programs set some of them themselves, llama.cpp for one `enable_thinking` and the date. A chat that brings
 * a system message keeps it.
 */
export function templateWithSettings(
  template: string,
  { system_prompt, chat_template_kwargs }: Omit<ChatSettings, 'stop_strings'>,
): string {
  const switches = Object.entries(chat_template_kwargs)
    .filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
    .map(([name, value]) => `{% set ${name} = ${JSON.stringify(value)} %}`);
  const said =
    system_prompt === null
      ? ''
      : "{% if messages[0]['role'] != 'system' %}" +
        `{% set messages = [{'role': 'system', 'content': ${JSON.stringify(system_prompt)}}] + messages %}{% endif %}`;
  return switches.join('') + said + template;
}
