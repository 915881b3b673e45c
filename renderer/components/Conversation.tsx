import type { ChatMessage } from '../../main/api/contract/index.ts';
import aligned from './Aligned.module.css';
import classes from './Conversation.module.css';

export interface ConversationProps {
  /** What followed the prompt. */
  readonly messages: readonly ChatMessage[];
  readonly label: string;
  /** It is being generated. */
  readonly growing?: boolean;
}

/** A completion of several turns: what the model said, and what the environment answered. */
export function Conversation({ messages, label, growing = false }: ConversationProps) {
  return (
    <ol className={classes.conversation} aria-label={label}>
      {messages.map(({ role, content }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a conversation is shown as it is, and turns can be equal
        <li key={i} className={role === 'assistant' ? classes.model : classes.environment}>
          <span className={classes.role}>{role === 'assistant' ? 'Model' : 'Environment'}</span>
          <p className={`own-direction ${aligned.plain}`}>
            {content.trim() === '' && !(growing && i === messages.length - 1) ? '(empty)' : content}
            {growing && i === messages.length - 1 && <span className={aligned.cursor} aria-hidden="true" />}
          </p>
        </li>
      ))}
    </ol>
  );
}
