/** As much of Go's text/template as Braid's templates for Ollama use, and how Ollama fills them. */

export interface OllamaChat {
  readonly System?: string;
  readonly Messages?: readonly { readonly Role: string; readonly Content: string }[];
  readonly Prompt?: string;
  readonly Response?: string;
}

type Scope = Record<string, unknown>;

/** Ollama joins system messages to `.System`, and passes all messages to it. */
export function ollamaChat(
  messages: readonly { readonly role: string; readonly content: string | null }[],
): OllamaChat {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  return {
    System: system.join('\n\n'),
    Messages: messages.map(({ role, content }) => ({ Role: role, Content: content ?? '' })),
  };
}

/** Executes a template. Throws for anything that isn't known here. */
export function goTemplate(template: string, data: OllamaChat): string {
  const parts = template.split(/\{\{ (.*?) \}\}/s);
  let at = 0;
  const variables: Scope = {};
  /** Runs to the end of the block; returns the action that ended it. */
  function block(dot: unknown, live: boolean, out: string[]): string {
    for (;;) {
      const text = parts[at] ?? '';
      if (text.includes('{{')) throw new Error(`an action that isn't closed: ${text}`);
      if (live) out.push(text);
      if (at + 1 >= parts.length) return '';
      const action = parts[at + 1] ?? '';
      at += 2;
      if (action === 'end' || action.startsWith('else')) return action;
      if (action.startsWith('if ')) condition(action.slice(3), dot, live, out);
      else if (action.startsWith('range ')) range(action.slice(6), dot, live, out);
      else if (live) assign(action, dot, out);
    }
  }
  function condition(test: string, dot: unknown, live: boolean, out: string[]): void {
    const met = live && truth(value(test, dot));
    let ended = block(dot, met, out);
    let open = live && !met;
    for (; ended.startsWith('else'); ) {
      const chosen = open && (ended === 'else' || truth(value(ended.slice('else if '.length), dot)));
      if (chosen) open = false;
      ended = block(dot, chosen, out);
    }
  }
  function range(header: string, dot: unknown, live: boolean, out: string[]): void {
    const [names = '', list = ''] = header.split(' := ');
    const [index = '', item = ''] = names.split(', ');
    const items = live ? (value(list, dot) as readonly unknown[]) : [];
    const start = at;
    block(dot, false, []);
    const end = at;
    for (const [i, one] of items.entries()) {
      Object.assign(variables, { [index]: i, [item]: one });
      at = start;
      block(one, true, out);
    }
    at = end;
  }
  function assign(action: string, dot: unknown, out: string[]): void {
    const [, name, declared, expression] = /^(\$\w+) (:?)= (.*)$/s.exec(action) ?? [];
    if (name === undefined || expression === undefined) {
      out.push(String(value(action, dot)));
      return;
    }
    if (declared === '' && !(name in variables)) throw new Error(`${name} isn't declared`);
    variables[name] = value(expression, dot);
  }
  function value(expression: string, dot: unknown): unknown {
    const words = expression.match(/"(?:[^"\\]|\\.)*"|\((?:[^()]|\([^()]*\))*\)|\S+/gs) ?? [];
    const [name = '', ...rest] = words;
    const args = rest.map((word) => term(word, dot));
    if (rest.length === 0) return term(name, dot);
    const [a, b] = args;
    if (name === 'eq') return a === b;
    if (name === 'not') return !truth(a);
    if (name === 'and') return truth(a) ? b : a;
    if (name === 'len') return (a as readonly unknown[]).length;
    if (name === 'slice') return (a as readonly unknown[]).slice(b as number);
    throw new Error(`an unknown function: ${name}`);
  }
  function term(word: string, dot: unknown): unknown {
    if (word.startsWith('(')) return value(word.slice(1, -1), dot);
    if (word.startsWith('"')) return JSON.parse(word.replace(/\\U0000(\w{4})/g, '\\u$1')) as string;
    if (/^\d+$/.test(word)) return Number(word);
    if (word === 'true' || word === 'false') return word === 'true';
    if (word.startsWith('$.')) return (data as Scope)[word.slice(2)] ?? '';
    if (word.startsWith('.')) return (dot as Scope)[word.slice(1)] ?? '';
    if (word in variables) return variables[word];
    throw new Error(`an unknown word: ${word}`);
  }
  const out: string[] = [];
  const rest = block(data, true, out);
  if (rest !== '') throw new Error(`an "${rest}" too many`);
  return out.join('');
}

function truth(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
