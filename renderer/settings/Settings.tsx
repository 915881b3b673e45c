/** Settings and Doctor: how the app behaves, and what this machine can run. */
import { Screen } from '../components/Screen.tsx';
import { ScreenTabs } from '../components/ScreenTabs.tsx';
import { Doctor } from './Doctor.tsx';
import { EnginesPanel } from './EnginesPanel.tsx';
import { GpuReportPanel } from './GpuReportPanel.tsx';
import { HubPanel } from './HubPanel.tsx';
import { NativePanel } from './NativePanel.tsx';
import { Preferences } from './Preferences.tsx';
import { WorkspacePanel } from './WorkspacePanel.tsx';

const views = [
  { path: '/settings', label: 'Preferences' },
  { path: '/settings/doctor', label: 'Doctor' },
] as const;

export function Settings({ tab }: { readonly tab: 'settings' | 'doctor' }) {
  return (
    <Screen title="Settings" about={<ScreenTabs label="Settings" views={views} />}>
      {tab === 'settings' ? (
        <>
          <Preferences />
          <EnginesPanel />
          <HubPanel />
          <WorkspacePanel />
        </>
      ) : (
        <>
          <Doctor />
          <GpuReportPanel />
          <NativePanel />
        </>
      )}
    </Screen>
  );
}
