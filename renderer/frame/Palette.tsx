/** Ctrl/Cmd-K: every screen, every run, every action of the screen on show. */
import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { score } from '../components/format.ts';
import { navigate } from '../frame/hash-location.ts';
import { allRuns } from '../runs/all-runs.ts';
import { screens } from './screens.ts';

export function Palette() {
  const { data: runs = [] } = useQuery(api.runs.list.queryOptions({ input: allRuns }));
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
  return (
    <Spotlight
      actions={[
        { group: 'Go to', actions: places },
        { group: 'Runs', actions: objects },
      ]}
      nothingFound="Nothing of that name"
      highlightQuery
      scrollable
      maxHeight={420}
      limit={30}
      searchProps={{ placeholder: 'Go to a screen or a run', 'aria-label': 'Search' }}
    />
  );
}
