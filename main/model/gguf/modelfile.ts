/** Ollama's Modelfile for a GGUF file (github.com/ollama/ollama/blob/main/docs/modelfile.md). */
import type { ChatMessage } from '../../samples/chat-message.ts';
import { readChatSettings } from '../chat-settings.ts';
import { dependsOnDate, readChatTemplate, renderChat } from '../chat-template.ts';
import type { ModelConfig } from '../config.ts';
import { TEMPLATE_DATE } from '../template-date.ts';
import { endTokens, loadTokenizer } from '../tokenizer.ts';
import { readTokenizerConfig } from '../tokenizer-files.ts';
import { beginOfText } from './begin-of-text.ts';
import { ollamaTemplate } from './ollama-template.ts';

/** A model without a chat template is given the prompt as it is. */
const PLAIN = '{{ .Prompt }}{{ .Response }}';

/** The file's text; `gguf` is the file's name beside it. */
export function modelfile(gguf: string, tokenizerFolder: string, { eosTokenIds }: ModelConfig): string {
  const tokenizer = loadTokenizer(tokenizerFolder);
  const stops = endTokens(tokenizer, eosTokenIds).flatMap((id) => tokenizer.token(id) ?? []);
  return [
    `FROM ./${gguf}`,
    ...templateLines(tokenizerFolder),
    ...stops.map((stop) => `PARAMETER stop ${stop.includes('\n') ? `"""${stop}"""` : `"${stop}"`}`),
    '',
  ].join('\n');
}

/** TEMPLATE and SYSTEM, with what they can't do. */
function templateLines(folder: string): string[] {
  const config = readTokenizerConfig(folder);
  const chat = readChatTemplate(folder, config);
  if (chat === null) return [`TEMPLATE """${PLAIN}"""`];
  const { system_prompt: system, chat_template_kwargs: kwargs } = readChatSettings(folder);
  const begin = beginOfText(folder);
  const template = ollamaTemplate((messages: readonly ChatMessage[]) => {
    const text = renderChat(chat, messages, config, folder, kwargs);
    // Ollama's tokenizer puts it there.
    return begin !== null && text.startsWith(begin) ? text.slice(begin.length) : text;
  });
  if (template === null)
    return ["# The model's chat template can't be written in Ollama's language: give the TEMPLATE of a model like it."];
  const limits = [
    ...template.limits,
    ...(dependsOnDate(chat, config, folder, kwargs)
      ? [`The chat template prints the date. Here it is always ${TEMPLATE_DATE}, as it was in training.`]
      : []),
  ];
  return [
    ...limits.map((limit) => `# ${limit}`),
    `TEMPLATE """${template.text}"""`,
    ...(system === null ? [] : [`SYSTEM """${system.replaceAll('"""', "'''")}"""`]),
  ];
}
