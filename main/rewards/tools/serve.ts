/** The thread's side of tools outside the sandbox: calls as they come, each answered as soon as its tool has answered. */
import { checkedAddress } from '../../tasks/external/spec.ts';
import type { CallResult, ToolsProgram, ToolsReply, ToolsRequest } from '../../tasks/external/tool-messages.ts';
import type { ToolSpec } from '../../tasks/external/tool-spec.ts';
import { type ReplyLine, replyPoster } from '../../tasks/sync-thread.ts';
import { openToolCommand } from './command.ts';
import { openToolEndpoint } from './endpoint.ts';
import type { ToolServer } from './result.ts';

/** Answers on the line until it is closed. */
export function serveTools({ tools, files, access }: ToolsProgram, line: ReplyLine): void {
  const post = replyPoster<ToolsReply>(line);
  const open = ({ http, timeout_s, allow_plain_http, ...spec }: ToolSpec): ToolServer => {
    if (http === null) return openToolCommand({ ...spec, command: spec.command ?? [], timeout_s }, files);
    const url = checkedAddress(http, allow_plain_http);
    return openToolEndpoint({ url: url.href, timeout_s }, access.keys[url.origin] ?? null);
  };
  const servers = new Map<string, ToolServer>();
  const byName = new Map<string, ToolServer>();
  for (const [name, spec] of Object.entries(tools)) {
    const same = JSON.stringify(spec);
    const server = servers.get(same) ?? open(spec);
    servers.set(same, server);
    byName.set(name, server);
  }
  line.port.on('message', async (request: ToolsRequest) => {
    if (request.kind === 'close') {
      await Promise.allSettled([...servers.values()].map((server) => server.close()));
      return post({ kind: 'closed' });
    }
    const { id, name, given } = request;
    const result = await byName
      .get(name)
      ?.call(name, given)
      .catch((error: unknown): CallResult => ({ failure: error instanceof Error ? error.message : String(error) }));
    post({ kind: 'called', id, result: result ?? { failure: 'is not a tool' } });
  });
  post({ kind: 'ready' });
}
