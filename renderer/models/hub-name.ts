/** The name of a model on the Hugging Face Hub in what was entered as a path: OWNER/NAME, or the address of its page. */

const PAGE = /^https?:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/([\w.-]+\/[\w.-]+)/i;
const NAME = /^(?:hf:)?([a-z0-9][\w.-]*\/[a-z0-9][\w.-]*)$/i;

/** null: it is a path. One in the workspace can look like a name, so a name is only offered. */
export function hubName(entered: string): string | null {
  const name = PAGE.exec(entered)?.[1] ?? NAME.exec(entered)?.[1] ?? null;
  return name === null || /\.gguf$/i.test(name) || /^(?:models|outputs|datasets)\//.test(name) ? null : name;
}
