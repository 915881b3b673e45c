/** A banner over the page while its session has expired; the page stays as it is. */
import { Button, Portal, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { api } from '../api/client.ts';
import { connection } from '../api/connection.ts';
import { renewSession } from '../api/renew-session.ts';
import { Failed } from '../components/Feedback.tsx';
import { SubmitForm } from '../components/SubmitForm.tsx';
import classes from './SessionExpired.module.css';

export function SessionExpired() {
  const { kind } = useSyncExternalStore(connection.subscribe, connection.get);
  const { data: info } = useQuery(api.app.info.queryOptions());
  return kind === 'expired' && <Banner workspace={info?.workspace} />;
}

function Banner({ workspace }: { readonly workspace: string | undefined }) {
  const [address, setAddress] = useState('');
  const renew = useMutation({ mutationFn: () => renewSession(address, workspace) });
  return (
    <Portal>
      <section className={classes.banner} aria-label="Session expired">
        <div role="alert">
          <strong>The session of this page has expired</strong>
          <p>
            Braid was restarted, or the browser has deleted its cookie. What you typed stays here, and saved work is
            safe. To reconnect, paste the address that braid serve printed.
          </p>
        </div>
        <SubmitForm className={classes.form} onSubmit={() => renew.mutate()}>
          <TextInput
            aria-label="Printed address"
            placeholder="http://127.0.0.1:4127/?token=…"
            autoComplete="off"
            value={address}
            onChange={({ currentTarget }) => setAddress(currentTarget.value)}
          />
          <Button type="submit" disabled={address.trim() === ''} loading={renew.isPending}>
            Reconnect
          </Button>
        </SubmitForm>
        {renew.error !== null && <Failed what="Not reconnected" error={renew.error} />}
      </section>
    </Portal>
  );
}
