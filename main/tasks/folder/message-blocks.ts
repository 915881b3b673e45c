/** Messages of Anthropic's form, whose calls, results and thoughts are parts of the content, as several of the usual form. */
import { isJsonObject } from '../../io/json.ts';
import { failedContent } from '../tool-use.ts';

type Fields = Readonly<Record<string, unknown>>;

const BLOCKS = ['tool_use', 'tool_result', 'thinking', 'redacted_thinking'];

/** A message whose parts are texts alone; others are as they were. */
export function withoutBlocks(message: unknown): readonly unknown[] {
  const { content } = isJsonObject(message) ? message : {};
  if (!isJsonObject(message) || !Array.isArray(content)) return [message];
  const of = (...types: string[]): readonly Fields[] =>
    content.filter((part): part is Fields => isJsonObject(part) && types.includes(String(part.type)));
  if (of(...BLOCKS).length === 0) return [message];
  const rest: readonly unknown[] = content.filter((part) => !of(...BLOCKS).includes(part as Fields));
  const calls = of('tool_use').map(({ id, name, input }) => ({ id, function: { name, arguments: input } }));
  const thoughts = of('thinking').map(({ thinking }) => thinking);
  const results = of('tool_result').map(({ tool_use_id: id, content: given, is_error }) => ({
    ...{ role: 'tool', tool_call_id: id, content: is_error === true ? failedContent(given ?? '') : (given ?? '') },
  }));
  const said = {
    ...message,
    content: rest.length === 0 && calls.length > 0 ? null : rest,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
  };
  return rest.length === 0 && results.length > 0 ? results : [...results, said];
}

/** Functions with their schemas in the usual form: OpenAI's Responses and Anthropic have one flat, Gemini lists of them. */
export function functionsOf(tool: unknown): readonly unknown[] {
  if (!isJsonObject(tool) || tool.function !== undefined) return [tool];
  const declared = tool.functionDeclarations ?? tool.function_declarations;
  if (Array.isArray(declared)) return declared.map((one) => (isJsonObject(one) ? named(one, inLowerCase) : one));
  const { type, input_schema, ...rest } = tool;
  if (isJsonObject(input_schema)) return [named({ ...rest, parameters: input_schema })];
  return [type === 'function' ? { type, function: rest } : tool];
}

function named({ name, description, ...rest }: Fields, schema = (given: unknown) => given): Fields {
  const parameters = rest.parameters ?? rest.parametersJsonSchema ?? rest.parameters_json_schema;
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { parameters: schema(parameters) }),
    },
  };
}

/** A schema whose types are `STRING` and `OBJECT`, as Gemini has them. */
function inLowerCase(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inLowerCase);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : inLowerCase(value),
    ]),
  );
}
