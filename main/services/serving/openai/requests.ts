/** Bodies of requests as OpenAI's API has them, as what a kept model is asked. Pure, but for seeds that aren't given. */
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { parseJsonExactly } from '../../../io/json.ts';
import { type ChatMessage, chatRole, type ToolCall } from '../../../samples/chat-message.ts';
import type { AnswerPrompt, AnswerRequest } from '../../../trainer/protocol/answers.ts';
import { invalid, type Refusal } from './errors.ts';

/** A request to answer: each prompt is asked for `n` completions. */
export interface ParsedRequest {
  readonly model: string;
  readonly prompts: readonly AnswerPrompt[];
  readonly asked: Omit<AnswerRequest, 'prompt'>;
  readonly stream: boolean;
  /** Whether a stream ends with the numbers of tokens. */
  readonly usage: boolean;
}

/** Completions of one request. */
const MOST_CHOICES = 128;
const MOST_ALTERNATIVES = 20;
const WORDS = 2 ** 24;

const number = (least: number, most: number) => z.number().min(least).max(most).nullish();
const text = z.string().max(WORDS);

/** What is the same in both. `penalty`: computed by no engine here, so that only "none" is right. */
const common = {
  model: z.string().min(1).max(4096),
  max_tokens: z.int().min(0).nullish(),
  temperature: number(0, 2),
  top_p: number(0, 1),
  n: z.int().min(1).max(MOST_CHOICES).nullish(),
  stop: z.union([text.min(1), z.array(text.min(1)).max(16)]).nullish(),
  seed: z.int().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  logit_bias: z.record(z.string().regex(/^\d{1,9}$/), z.number().min(-100).max(100)).nullish(),
  presence_penalty: z.literal(0, 'Expected 0: this server has no such penalty').nullish(),
  frequency_penalty: z.literal(0, 'Expected 0: this server has no such penalty').nullish(),
  user: z.string().max(WORDS).nullish(),
  // As vLLM has them.
  top_k: z.int().min(-1).nullish(),
  min_p: number(0, 1),
  repetition_penalty: z.number().gt(0).max(10).nullish(),
};

const part = z.object({ type: z.literal('text', 'Expected a part of type "text": this model reads no other'), text });
const content = z.union([text, z.array(part).max(1000)]).nullish();
const call = z.object({
  id: z.string().max(1000).optional(),
  type: z.literal('function').optional(),
  function: z.object({
    name: z.string().min(1).max(1000),
    arguments: z.union([text, z.record(z.string(), z.unknown())]),
  }),
});

const message = z.object({
  role: z.enum([...chatRole.options, 'developer']),
  content,
  name: z.string().max(1000).nullish(),
  tool_calls: z.array(call).min(1).max(1000).nullish(),
  tool_call_id: z.string().max(1000).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: text.nullish(),
});

const tool = z.object({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string().min(1).max(1000) }),
});

const chatSchema = z.strictObject({
  ...common,
  messages: z.array(message).min(1).max(10_000),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(MOST_ALTERNATIVES).nullish(),
  tools: z.array(tool).max(1000).nullish(),
  tool_choice: z.enum(['auto', 'none'], 'Expected "auto" or "none": a model is not made to call').nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z
    .object({ type: z.literal('text', 'Expected "text": answers are not made to follow a format') })
    .nullish(),
  // What changes nothing here.
  metadata: z.unknown().optional(),
  store: z.unknown().optional(),
  service_tier: z.unknown().optional(),
  reasoning_effort: z.unknown().optional(),
  safety_identifier: z.unknown().optional(),
  prompt_cache_key: z.unknown().optional(),
  verbosity: z.unknown().optional(),
});

const ids = z.array(z.int().min(0)).min(1).max(WORDS);

const completionSchema = z.strictObject({
  ...common,
  prompt: z.union([text, z.array(text).min(1).max(MOST_CHOICES), ids, z.array(ids).min(1).max(MOST_CHOICES)]),
  echo: z.boolean().nullish(),
  logprobs: z.int().min(0).max(MOST_ALTERNATIVES).nullish(),
  best_of: z.literal(1, 'Expected 1: only n completions are computed').nullish(),
  suffix: z.literal('', 'Expected no suffix').nullish(),
});

type Parsed = { readonly request: ParsedRequest } | { readonly refusal: Refusal };

/** A body of /v1/chat/completions. */
export function parseChat(body: unknown): Parsed {
  const read = chatSchema.safeParse(body);
  if (!read.success) return { refusal: faultOf(read.error) };
  const { data } = read;
  if (data.top_logprobs != null && data.logprobs !== true)
    return { refusal: invalid("Expected 'logprobs' to be true where 'top_logprobs' is set", 'top_logprobs') };
  const messages: ChatMessage[] = [];
  for (const [i, one] of data.messages.entries()) {
    const read = messageOf(one);
    if (typeof read === 'string') return { refusal: invalid(read, `messages.[${i}]`) };
    messages.push(read);
  }
  const tools = data.tool_choice === 'none' || !data.tools?.length ? null : data.tools;
  return {
    request: {
      ...commonOf(data),
      prompts: [{ kind: 'messages', messages, ...(tools !== null && { tools }) }],
      asked: {
        ...askedOf(data),
        maxTokens: data.max_completion_tokens ?? data.max_tokens ?? null,
        logprobs: data.logprobs === true ? (data.top_logprobs ?? 0) : null,
      },
    },
  };
}

/** A body of /v1/completions. */
export function parseCompletion(body: unknown): Parsed {
  const read = completionSchema.safeParse(body);
  if (!read.success) return { refusal: faultOf(read.error) };
  const { data } = read;
  const prompts = promptsOf(data.prompt);
  const asked = askedOf(data);
  if (prompts.length * asked.n > MOST_CHOICES)
    return { refusal: invalid(`Expected at most ${MOST_CHOICES} completions, got ${prompts.length * asked.n}`, 'n') };
  return {
    request: {
      ...commonOf(data),
      prompts,
      asked: { ...asked, maxTokens: data.max_tokens ?? 16, logprobs: data.logprobs ?? null, echo: data.echo ?? false },
    },
  };
}

type Common = z.infer<z.ZodObject<typeof common>>;

function commonOf({
  model,
  stream,
  stream_options: options,
}: Common): Pick<ParsedRequest, 'model' | 'stream' | 'usage'> {
  return { model, stream: stream ?? false, usage: options?.include_usage ?? false };
}

function askedOf(data: Common): Omit<AnswerRequest, 'prompt' | 'maxTokens' | 'logprobs'> {
  const bias = Object.entries(data.logit_bias ?? {}).map(([id, more]) => [Number(id), more] as const);
  return {
    n: data.n ?? 1,
    temperature: data.temperature ?? 1,
    // 0 would leave nothing; the most likely token is always kept.
    topP: data.top_p ?? 1,
    topK: Math.max(0, data.top_k ?? 0),
    minP: data.min_p ?? null,
    repetitionPenalty: data.repetition_penalty ?? 1,
    seed: data.seed ?? randomInt(2 ** 31),
    stop: typeof data.stop === 'string' ? [data.stop] : (data.stop ?? []),
    ...(bias.length > 0 && { bias }),
  };
}

function promptsOf(prompt: z.infer<typeof completionSchema>['prompt']): AnswerPrompt[] {
  if (typeof prompt === 'string') return [{ kind: 'text', text: prompt }];
  const [first] = prompt;
  if (typeof first === 'number') return [{ kind: 'ids', ids: prompt as readonly number[] }];
  return (prompt as readonly (string | readonly number[])[]).map((one) =>
    typeof one === 'string' ? { kind: 'text', text: one } : { kind: 'ids', ids: one },
  );
}

/** A message as chat templates read it, or what is wrong with it. */
function messageOf(given: z.infer<typeof message>): ChatMessage | string {
  const { role, content: said, name, tool_calls: calls, tool_call_id: id, reasoning_content: thoughts } = given;
  const words = Array.isArray(said) ? said.map(({ text: one }) => one).join('') : (said ?? null);
  if (words === null && calls == null) return "Expected 'content' to be a text";
  const called: ToolCall[] = [];
  for (const { id: own, function: fn } of calls ?? []) {
    const read = typeof fn.arguments === 'string' ? objectIn(fn.arguments) : fn.arguments;
    if (read === null) return `Expected the arguments of ${fn.name} to be a JSON object in a text`;
    called.push({
      ...(own !== undefined && { id: own }),
      type: 'function',
      function: { name: fn.name, arguments: read },
    });
  }
  return {
    role: role === 'developer' ? 'system' : role,
    content: words,
    ...(called.length > 0 && { tool_calls: called }),
    ...(id != null && { tool_call_id: id }),
    ...(name != null && { name }),
    ...(thoughts != null && { reasoning_content: thoughts }),
  };
}

function objectIn(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseJsonExactly(json.trim() || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

type Issue = z.ZodError['issues'][number];

/** Of a field with several forms the fault in the form that was meant: the one that fits furthest. */
function inForm(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const faults = issue.errors.flatMap(([fault]) => (fault === undefined ? [] : [inForm(fault)]));
  const reached = ({ path, code }: Issue): number => 2 * path.length + (code === 'invalid_type' ? 0 : 1);
  const [closest] = faults.sort((a, b) => reached(b) - reached(a));
  return closest === undefined ? issue : { ...closest, path: [...issue.path, ...closest.path] };
}

/** The first fault, in OpenAI's words where it is a field that nobody knows. */
function faultOf({ issues }: z.ZodError): Refusal {
  const [first] = issues;
  if (first === undefined) return invalid('The body is not a request');
  const issue = inForm(first);
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    const [key = ''] = issue.keys;
    return invalid(`Unrecognized request argument supplied: ${key.slice(0, 100)}`, key.slice(0, 100));
  }
  const param = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : String(key))).join('.');
  const missing =
    issue.path.length === 1 && issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  if (missing) return invalid(`Missing required parameter: '${param}'`, param, 'missing_required_parameter');
  return invalid(
    param === '' ? `Expected a JSON object: ${issue.message}` : `Invalid value of '${param}': ${issue.message}`,
    param || null,
  );
}
