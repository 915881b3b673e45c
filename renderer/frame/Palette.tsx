/** The command palette (Ctrl/Cmd-K): actions of the current screen, and every screen, stage, dataset and run. */
import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.ts';
import { number, score } from '../components/format.ts';
import { allRuns } from '../runs/all-runs.ts';
import { navigate } from './hash-location.ts';
import { type ScreenKey, useCurrentKeys } from './keys.tsx';
import { screens } from './screens.ts';

export function Palette() {
  const { data: runs = [] } = useQuery(api.runs.list.queryOptions({ input: allRuns }));
  const [isOpen, setOpen] = useState(false);
  const { data: curriculum } = useQuery(api.stages.list.queryOptions({ enabled: isOpen }));
  const { data: datasets = [] } = useQuery(api.datasets.list.queryOptions({ enabled: isOpen }));
  const [keys, setKeys] = useState<readonly ScreenKey[]>([]);
  const current = useCurrentKeys();
  const screenActions: SpotlightActionData[] = keys.filter(isAction).map(({ key, label, run }) => ({
    id: `key-${key}`,
    label,
    description: key === ' ' ? 'Space' : key,
    // The palette returns the focus first; the action may then move it.
    onClick: () => void setTimeout(run, AFTER_CLOSING_MS),
  }));
  const places: SpotlightActionData[] = screens.map(({ path, label, key, icon: Icon }) => ({
    id: path,
    label,
    description: `g ${key}`,
    leftSection: <Icon size={16} aria-hidden="true" />,
    onClick: () => navigate(path),
  }));
  const objects: SpotlightActionData[] = runs.map(({ id, name, state, latest }) => ({
    id: `run-${id}`,
    label: name,
    description: `${state}, reward ${score(latest.reward?.value)}`,
    keywords: [`run ${id}`],
    onClick: () => navigate(`/runs/${id}`),
  }));
  const stages: SpotlightActionData[] = (curriculum?.stages ?? []).map(({ id, name, state }) => ({
    id: `stage-${id}`,
    label: name,
    description: `stage, ${state}`,
    onClick: () => navigate(`/curriculum?stage=${id}`),
  }));
  const pairs: SpotlightActionData[] = datasets.map(({ id, name, trainN }) => ({
    id: `dataset-${id}`,
    label: name,
    description: `dataset, ${number(trainN)} training pairs`,
    onClick: () => navigate(`/texts/dataset/${id}`),
  }));
  return (
    <Spotlight
      onSpotlightOpen={() => {
        setKeys(current());
        setOpen(true);
      }}
      onSpotlightClose={() => setOpen(false)}
      actions={[
        { group: 'On this screen', actions: screenActions },
        { group: 'Go to', actions: places },
        { group: 'Stages', actions: stages },
        { group: 'Datasets', actions: pairs },
        { group: 'Runs', actions: objects },
      ].filter(({ actions }) => actions.length > 0)}
      nothingFound="No results"
      highlightQuery
      scrollable
      maxHeight={420}
      limit={40}
      searchProps={{
        placeholder: 'Search actions, screens, stages, datasets and runs',
        'aria-label': 'Search',
      }}
    />
  );
}

const AFTER_CLOSING_MS = 60;

/** Whether a key is an action rather than list navigation. */
function isAction({ key }: ScreenKey): boolean {
  return !key.startsWith('Arrow') && !['Home', 'End', 'Escape', 'j', 'k'].includes(key);
}
