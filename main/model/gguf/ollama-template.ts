/**
 * A model's own chat template (Jinja) in Ollama's template language (Go's text/template; docs/template.mdx of Ollama).
 * Conversations are rendered with markers as contents: what lies between the markers becomes text, the markers become
 * variables. The pieces must then predict how longer conversations are rendered, otherwise they aren't used.
 */
import type { ChatMessage } from '../../samples/chat-message.ts';

type Render = (messages: readonly ChatMessage[]) => string;

export interface OllamaTemplate {
  readonly text: string;
  /** What the chat template does and this one can't. */
  readonly limits: readonly string[];
}

/** The text around a conversation's contents. */
interface Pieces {
  /** Before the first message of the user, without a system message; a default system prompt is part of it. */
  readonly head: string;
  /** Between the last message of the user and the model's answer. */
  readonly tail: string;
  /** Around earlier answers: from the user to the model, and back; null: only one turn can be written. */
  readonly turns: { readonly toModel: string; readonly toUser: string } | null;
  /** Around the system message, in place of `head` or in front of the last message of the user; null: it has no place. */
  readonly system: { readonly place: 'head' | 'last'; readonly before: string; readonly after: string } | null;
}

/** The first of the characters that stand for contents; Unicode keeps them out of texts. */
const MARK = 0xfdd4;
const CONVERSATIONS = ['u', 'uau', 'uauau'] as const;
const ROLES: Readonly<Record<string, ChatMessage['role']>> = { s: 'system', u: 'user', a: 'assistant' };

/** The template, or null where the model's own can't be rendered for a single message. */
export function ollamaTemplate(render: Render): OllamaTemplate | null {
  const pieces = findPieces((roles) => attempt(() => render(conversation(roles))));
  if (pieces === null) return null;
  const { system, turns } = pieces;
  const limits = [
    ...(system === null ? ['The chat template takes no system message: Ollama leaves it out.'] : []),
    ...(turns === null
      ? ['Earlier turns of a chat stand in this template differently than in the chat template.']
      : []),
  ];
  return { text: turns === null ? oneTurn(pieces) : allTurns(pieces, turns), limits };
}

function conversation(roles: string): ChatMessage[] {
  return [...roles].map((letter, i) => ({ role: ROLES[letter] ?? 'user', content: mark(i) }));
}

function mark(i: number): string {
  return String.fromCharCode(MARK + i);
}

function attempt(render: () => string): string | null {
  try {
    return render();
  } catch {
    // The template refuses this conversation: a system message, or more than one turn.
    return null;
  }
}

/** The first reading of the renderings that explains all of them. */
function findPieces(rendered: (roles: string) => string | null): Pieces | null {
  const [head, tail] = around(rendered('u'), 1) ?? [];
  if (head === undefined || tail === undefined) return null;
  const [, toModel, toUser] = around(rendered('uau'), 3) ?? [];
  const turns = toModel === undefined || toUser === undefined ? null : { toModel, toUser };
  const [before, after] = around(rendered('su'), 2) ?? [];
  const systems: Pieces['system'][] =
    before === undefined || after === undefined
      ? [null]
      : [
          { place: 'head', before, after },
          ...(before.startsWith(head) ? [{ place: 'last' as const, before: before.slice(head.length), after }] : []),
          null,
        ];
  for (const some of turns === null ? [null] : [turns, null])
    for (const system of systems) {
      const pieces = { head, tail, turns: some, system };
      const plain = CONVERSATIONS.slice(0, some === null ? 1 : undefined);
      const asked = system === null ? plain : [...plain, ...plain.map((roles) => `s${roles}`)];
      if (asked.every((roles) => rendered(roles) === predicted(pieces, roles))) return pieces;
    }
  return null;
}

/** The texts before, between and after as many markers; null where one is missing, doubled or moved. */
function around(text: string | null, marks: number): string[] | null {
  const parts = text?.split(/([\uFDD4-\uFDDF])/) ?? [];
  const found = parts.filter((_, i) => i % 2 === 1);
  if (found.join('') !== Array.from({ length: marks }, (_, i) => mark(i)).join('')) return null;
  return parts.filter((_, i) => i % 2 === 0);
}

/** What the pieces make of a conversation. */
function predicted({ head, tail, turns, system }: Pieces, roles: string): string {
  const spoken = roles.startsWith('s') ? 1 : 0;
  const said = system !== null && spoken === 1 ? `${system.before}${mark(0)}${system.after}` : null;
  const texts = [...roles.slice(spoken)].map((role, i, all) => {
    const last = i === all.length - 1;
    const inFront = last && system?.place === 'last' ? (said ?? '') : '';
    const behind = last ? tail : role === 'u' ? turns?.toModel : turns?.toUser;
    return `${inFront}${mark(i + spoken)}${behind ?? ''}`;
  });
  return `${system?.place === 'head' && said !== null ? said : head}${texts.join('')}`;
}

/** The opening of a conversation: where the system message belongs, or without one. */
function opening({ head, system }: Pieces): string {
  if (system?.place !== 'head') return literal(head);
  return `{{ if .System }}${literal(system.before)}{{ .System }}${literal(system.after)}{{ else }}${literal(head)}{{ end }}`;
}

/**
 * Over `.Messages`, which Ollama fills for chats and single prompts alike. A template without them is repeated for each
 * turn, and a default system prompt with it. A chat that was cut to the context may begin with an answer: it is left out.
 */
function allTurns(pieces: Pieces, { toModel, toUser }: NonNullable<Pieces['turns']>): string {
  const { system, tail } = pieces;
  const inFront =
    system?.place === 'last'
      ? `{{ if and $last $.System }}${literal(system.before)}{{ $.System }}${literal(system.after)}{{ end }}`
      : '';
  const user = `{{ $asked = true }}${inFront}{{ .Content }}{{ if $last }}${literal(tail)}{{ else }}${literal(toModel)}{{ end }}`;
  const model = `{{ .Content }}{{ if not $last }}${literal(toUser)}{{ end }}`;
  return [
    ...[opening(pieces), '{{ $asked := false }}{{ range $i, $_ := .Messages }}'],
    '{{ $last := eq (len (slice $.Messages $i)) 1 }}',
    `{{ if eq .Role "user" }}${user}{{ else if and $asked (eq .Role "assistant") }}${model}{{ end }}{{ end }}`,
  ].join('');
}

function oneTurn(pieces: Pieces): string {
  const { system, tail } = pieces;
  const inFront =
    system?.place === 'last'
      ? `{{ if .System }}${literal(system.before)}{{ .System }}${literal(system.after)}{{ end }}`
      : '';
  return `${opening(pieces)}${inFront}{{ .Prompt }}${literal(tail)}{{ .Response }}`;
}

/**
 * What can't stand in a template as it is: braces that begin an action (also together with the next one's), quotes that
 * end a value of a Modelfile, and characters that Ollama's reader of Modelfiles drops.
 */
const UNSAFE = /\{{2,}|\{$|"{3,}|(?:(?![ \n\t\r])[\p{C}\p{Z}])+/gu;

/** Text in a template: where it isn't safe, as one of Go's string constants. */
function literal(text: string): string {
  return text.replace(UNSAFE, (unsafe) => `{{ ${quoted(unsafe)} }}`);
}

function quoted(text: string): string {
  return `"${[...text].map(escaped).join('')}"`;
}

function escaped(character: string): string {
  if (/[{\w]/.test(character)) return character;
  return character === '"' ? '\\"' : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
}
