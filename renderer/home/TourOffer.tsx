/** Offers the tour in a workspace without runs, until it was taken or skipped. */
import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, client } from '../api/client.ts';
import { Panel } from '../components/Screen.tsx';
import { tour } from '../frame/tour-store.ts';
import classes from './Home.module.css';

export function TourOffer() {
  const { data: settings } = useQuery(api.settings.get.queryOptions());
  const skip = useMutation({ mutationFn: () => client.settings.set({ offer_tour: false }) });
  if (settings === undefined || !settings.offer_tour || skip.isPending) return null;
  return (
    <Panel className={classes.offer ?? ''}>
      <p>
        <strong>New here?</strong>{' '}
        <span className="soft">A tour of six stops shows the way from texts to a trained model.</span>
      </p>
      <Button variant="default" onClick={() => tour.start()}>
        Take the tour
      </Button>
      <Button variant="subtle" onClick={() => skip.mutate()}>
        Skip it
      </Button>
    </Panel>
  );
}
