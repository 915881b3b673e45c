/** The Compare screen: starts a new comparison and lists earlier ones. */
import { Screen } from '../components/Screen.tsx';
import { Earlier } from './Earlier.tsx';
import { NewComparison } from './NewComparison.tsx';

export function Compare() {
  return (
    <Screen title="Compare" about={<span>A baseline against trained checkpoints, on the same held-out prompts</span>}>
      <NewComparison />
      <Earlier />
    </Screen>
  );
}
