import type { ChatMessage, ToolCall } from '../../main/api/contract/index.ts';
import aligned from './Aligned.module.css';
import classes from './Conversation.module.css';

export interface ConversationProps {
  /** What followed the prompt, or the prompt itself. */
  readonly messages: readonly ChatMessage[];
  readonly label: string;
  /** It is being generated. */
  readonly growing?: boolean;
  /** Who a `user` is; in a completion the environment answers in that role. */
  readonly user?: string;
}

/** Messages below each other, each with who said it: a completion of several turns, or a prompt. */
export function Conversation({ messages, label, growing = false, user = 'Environment' }: ConversationProps) {
  const names = { system: 'System', user, assistant: 'Model', tool: 'Tool' } as const;
  return (
    <ol className={classes.conversation} aria-label={label}>
      {messages.map(({ role, content, tool_calls: calls = [] }, i) => {
        const isOpen = growing && i === messages.length - 1;
        const isSilent = (content ?? '').trim() === '' && calls.length === 0 && !isOpen;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a conversation is shown as it is, and turns can be equal
          <li key={i} className={role === 'assistant' ? classes.model : classes.environment}>
            <span className={classes.role}>{names[role]}</span>
            <div>
              <p className={`own-direction ${aligned.plain}`}>
                {isSilent ? '(empty)' : content}
                {isOpen && <span className={aligned.cursor} aria-hidden="true" />}
              </p>
              {calls.map((call, k) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <Called key={k} {...call.function} />
              ))}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

/** A tool call, as its function would be written. */
function Called({ name, arguments: given }: ToolCall['function']) {
  return (
    <p className={`${aligned.plain} ${classes.call}`}>
      <span className={classes.role}>calls</span> {name}({JSON.stringify(given)})
    </p>
  );
}
