/**
 * A run's baseline is its model asked as the run asks: with its system prompt and the template's switches. A model folder
 * knows nothing of them, so a comparison gives its baseline those of the first checkpoint that has some.
 */
import { type ChatSettings, encodeChatSettings, readChatSettings } from '../../model/chat-settings.ts';
import type { ModelParts } from './model-parts.ts';

/** The model with these texts as what ends its answers, in place of its own; null: its own. */
export function endedBy<T extends ModelParts>(model: T, stops: readonly string[] | null): T & Pick<ModelParts, 'chat'> {
  if (stops === null) return model;
  return { ...model, chat: { ...(model.chat ?? readChatSettings(model.tokenizer)), stop_strings: [...stops] } };
}

/** The models of a comparison, the first of them the baseline; `askedAs` is the model whose settings it was given. */
export function askedAlike<T extends ModelParts & { readonly name: string }>(
  models: readonly T[],
): readonly (T & { readonly askedAs: string | null; readonly chat?: ChatSettings })[] {
  const [baseline, ...others] = models;
  const settings = (model: ModelParts) => readChatSettings(model.tokenizer);
  const own = baseline !== undefined && encodeChatSettings(settings(baseline)) !== null;
  const first = own ? undefined : others.find((model) => encodeChatSettings(settings(model)) !== null);
  return models.map((model) =>
    first === undefined || model !== baseline
      ? { ...model, askedAs: null }
      : { ...model, chat: settings(first), askedAs: first.name },
  );
}
