import type { ChatMessage, ToolCall } from '../../main/api/contract/index.ts';
import aligned from './Aligned.module.css';
import classes from './Conversation.module.css';
import { callError, stepRewards } from './episode-words.ts';
import { visible } from './visible.ts';

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
  let turn = 0;
  const turns = messages.map(({ role }) => (role === 'assistant' ? ++turn : turn));
  return (
    <ol className={classes.conversation} aria-label={label}>
      {messages.map((message, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a conversation is shown as it is, and turns can be equal
        <li key={i} className={message.role === 'assistant' ? classes.model : classes.environment}>
          <span className={classes.role}>
            {names[message.role]}
            {message.role === 'assistant' && turn > 1 && ` ${turns[i]}`}
          </span>
          <Said message={message} isOpen={growing && i === messages.length - 1} />
        </li>
      ))}
    </ol>
  );
}

/** What somebody said: thoughts, words, calls, or the result of a call, and what it was worth. */
function Said({ message, isOpen }: { readonly message: ChatMessage; readonly isOpen: boolean }) {
  const { role, content, tool_calls: calls = [], name, reasoning_content: thoughts } = message;
  const error = callError(message);
  const rewards = stepRewards(message);
  const isSilent = (content ?? '').trim() === '' && !isOpen;
  return (
    <div>
      {thoughts !== undefined && (
        <p className={`own-direction ${aligned.plain}`}>
          <span className={classes.role}>thinks</span> <span className="faint">{visible(thoughts)}</span>
        </p>
      )}
      {!(isSilent && calls.length > 0) && (
        <p className={`own-direction ${aligned.plain}`}>
          {role === 'tool' && name !== undefined && <span className={classes.tool}>{name} </span>}
          {error !== null && <span className={classes.error}>failed </span>}
          {visible(error ?? (isSilent ? '(empty)' : (content ?? '')))}
          {isOpen && <span className={aligned.cursor} aria-hidden="true" />}
        </p>
      )}
      {calls.map((call, k) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls of a turn can be equal
        <Called key={k} {...call.function} />
      ))}
      {rewards !== null && <p className={`num ${classes.given}`}>{rewards}</p>}
    </div>
  );
}

/** A tool call with its arguments. */
function Called({ name, arguments: given }: ToolCall['function']) {
  return (
    <p className={`own-direction ${aligned.plain} ${classes.call}`}>
      <span className={classes.role}>calls</span> <span className={classes.tool}>{name}</span>
      {Object.entries(given).map(([key, value]) => (
        <span key={key}>
          {' '}
          <span className="faint">{key}</span> {visible(typeof value === 'string' ? value : JSON.stringify(value))}
        </span>
      ))}
    </p>
  );
}
