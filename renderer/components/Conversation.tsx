import type { SampleView } from '../../main/api/contract/index.ts';
import aligned from './Aligned.module.css';
import classes from './Conversation.module.css';

export interface ConversationProps {
  /** What followed the prompt. */
  readonly messages: NonNullable<SampleView['messages']>;
  readonly label: string;
}

/** A completion of several turns: what the model said, and what the environment answered. */
export function Conversation({ messages, label }: ConversationProps) {
  return (
    <ol className={classes.conversation} aria-label={label}>
      {messages.map(({ role, content }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a conversation is shown as it is, and turns can be equal
        <li key={i} className={role === 'assistant' ? classes.model : classes.environment}>
          <span className={classes.role}>{role === 'assistant' ? 'Model' : 'Environment'}</span>
          <p className={`own-direction ${aligned.plain}`}>{content.trim() === '' ? '(empty)' : content}</p>
        </li>
      ))}
    </ol>
  );
}
