/** The fields of a server's actions or observations as it declares them, each with its text where it is filled in. */
import { TextInput } from '@mantine/core';
import type { ServerOffer } from '../../main/api/contract/index.ts';
import classes from './ServedTask.module.css';

export interface ServerFieldsProps {
  readonly what: 'actions' | 'observations';
  /** null: the server gives no schema. */
  readonly fields: ServerOffer['actions'];
  /** By field; null: they aren't filled in. */
  readonly texts: Readonly<Record<string, string>> | null;
  readonly onChange?: (texts: Record<string, string>) => void;
}

export function ServerFields({ what, fields, texts, onChange }: ServerFieldsProps) {
  if (fields === null) return <p className="soft">The server gives no schema of its {what}.</p>;
  if (fields.length === 0) return <p className="soft">Its {what} have no fields of their own.</p>;
  return (
    <ul className={classes.fields} aria-label={`Fields of its ${what}`}>
      {fields.map(({ name, type, isRequired, about }) => (
        <li key={name}>
          <span className="mono">{name}</span>{' '}
          <span className="soft">
            {type}
            {isRequired && ', required'}
            {about !== null && `: ${about}`}
          </span>
          {texts !== null && (
            <TextInput
              aria-label={`Action: ${name}`}
              className={classes.field}
              value={texts[name] ?? ''}
              onChange={({ currentTarget: { value } }) => {
                const { [name]: _, ...others } = texts;
                onChange?.(value === '' ? others : { ...others, [name]: value });
              }}
              maxLength={2000}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
