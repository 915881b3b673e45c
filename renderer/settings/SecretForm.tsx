/** A key or token that is entered, replaced or forgotten, and never shown. */
import { Button, PasswordInput } from '@mantine/core';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Failed } from '../components/Feedback.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './Settings.module.css';

interface SecretFormProps<T> {
  /** What a screen reader calls the field: "Key of cluster". */
  readonly label: string;
  readonly noun: 'key' | 'token';
  readonly placeholder: string;
  readonly isKept: boolean;
  /** Sends the secret, or null to forget it; its answer replaces what the page knows under `queryKey`. */
  readonly send: (secret: string | null) => Promise<T>;
  readonly queryKey: QueryKey;
}

export function SecretForm<T>({ label, noun, placeholder, isKept, send, queryKey }: SecretFormProps<T>) {
  const queries = useQueryClient();
  const [secret, setSecret] = useState('');
  const keep = useMutation({
    mutationFn: send,
    onSuccess: (now) => {
      queries.setQueryData(queryKey, now);
      setSecret('');
    },
  });
  return (
    <SubmitForm className={classes.path} onSubmit={() => keep.mutate(secret.trim())}>
      <PasswordInput
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        w={260}
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" disabled={secret.trim() === ''} loading={keep.isPending}>
        {isKept ? 'Replace' : 'Save'} {noun}
      </Button>
      {isKept && (
        <Button variant="default" onClick={() => keep.mutate(null)}>
          Forget {noun}
        </Button>
      )}
      {keep.error !== null && <Failed what={`The ${noun} was not kept`} error={keep.error} />}
    </SubmitForm>
  );
}
