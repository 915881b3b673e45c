/**
 * The Model Context Protocol as far as a server of tools needs it: JSON-RPC 2.0, one message a line
 * (modelcontextprotocol.io, revisions 2024-11-05 to 2025-11-25).
 */
import { BraidError } from '../../errors.ts';
import { databaseError } from '../../store/errors.ts';
import { visibleFault } from '../../text/visible.ts';
import type { Tool } from './tool.ts';

/** The newest first: it is offered where a client asks for another one. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

export interface McpOptions {
  readonly version: string;
  /** For the agent: what this server is, and what it may do. */
  readonly instructions: string;
  readonly tools: readonly Tool[];
}

type Id = string | number | null;
type Fields = Readonly<Record<string, unknown>>;

/** An error of the protocol, not of a tool. */
class ProtocolError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A function that answers a line of input; null where no answer is due. */
export function openMcpServer(options: McpOptions): (line: string) => Promise<string | null> {
  return async (line) => {
    const answer = await answerTo(line, options);
    return answer === null ? null : JSON.stringify(answer);
  };
}

async function answerTo(line: string, options: McpOptions): Promise<unknown> {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return failure(null, PARSE_ERROR, 'Expected one JSON message per line');
  }
  if (!Array.isArray(message)) return answerMessage(message, options);
  // A batch, of revision 2025-03-26.
  if (message.length === 0) return failure(null, INVALID_REQUEST, 'Expected a message, got an empty batch');
  const answers = await Promise.all(message.map((one) => answerMessage(one, options)));
  const due = answers.filter((answer) => answer !== null);
  return due.length === 0 ? null : due;
}

async function answerMessage(message: unknown, options: McpOptions): Promise<unknown> {
  if (!isFields(message) || message.jsonrpc !== '2.0')
    return failure(null, INVALID_REQUEST, 'Expected a JSON-RPC 2.0 message');
  const { id, method, params = {} } = message;
  if (typeof method !== 'string') {
    // An answer to a request: this server makes none.
    return 'result' in message || 'error' in message ? null : failure(idOf(id), INVALID_REQUEST, 'Expected a method');
  }
  if (id === undefined) return null;
  if (typeof id !== 'string' && typeof id !== 'number')
    return failure(null, INVALID_REQUEST, 'Expected the id to be a string or a number');
  try {
    if (!isFields(params)) throw new ProtocolError(INVALID_PARAMS, 'Expected the parameters to be an object');
    return { jsonrpc: '2.0', id, result: await resultOf(method, params, options) };
  } catch (error) {
    if (error instanceof ProtocolError) return failure(id, error.code, error.message);
    throw error;
  }
}

async function resultOf(method: string, params: Fields, options: McpOptions): Promise<unknown> {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      const known = VERSIONS.find((version) => version === protocolVersion);
      return {
        protocolVersion: known ?? VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: 'braid', version: options.version },
        instructions: options.instructions,
      };
    }
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: options.tools.map(described) };
    case 'tools/call':
      return callTool(params, options.tools);
    default:
      throw new ProtocolError(METHOD_NOT_FOUND, `Expected a method of a server of tools, got ${method.slice(0, 100)}`);
  }
}

function described({ name, description, schema, readOnly }: Tool) {
  return { name, description, inputSchema: schema, annotations: { readOnlyHint: readOnly, openWorldHint: false } };
}

/** A tool's own failure is a result that the agent reads and can act on. */
async function callTool({ name, arguments: given = {} }: Fields, tools: readonly Tool[]) {
  const tool = tools.find((known) => known.name === name);
  if (tool === undefined) {
    const names = tools.map((known) => known.name).join(', ');
    throw new ProtocolError(INVALID_PARAMS, `Expected one of the tools ${names}; got ${String(name).slice(0, 100)}`);
  }
  try {
    return { content: [{ type: 'text', text: JSON.stringify(await tool.call(given)) }] };
  } catch (error) {
    return { content: [{ type: 'text', text: explanation(error) }], isError: true };
  }
}

function explanation(thrown: unknown): string {
  const error = databaseError(thrown, 'of this workspace');
  if (error instanceof BraidError)
    return [`${error.message} (${error.code})`, ...(error.remedy === undefined ? [] : [error.remedy])].join('\n');
  process.stderr.write(`braid: ${visibleFault(error)}\n`);
  return `Something went wrong in Braid: ${error instanceof Error ? error.message : String(error)}`;
}

function failure(id: Id, code: number, message: string) {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function idOf(id: unknown): Id {
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
