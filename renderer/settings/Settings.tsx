/** Settings and Doctor: how the app behaves, and what this machine can run. */
import { Tabs } from '@mantine/core';
import { useLocation } from 'wouter';
import { Screen } from '../components/Screen.tsx';
import { Doctor } from './Doctor.tsx';
import { EnginesPanel } from './EnginesPanel.tsx';
import { GpuReportPanel } from './GpuReportPanel.tsx';
import { HubPanel } from './HubPanel.tsx';
import { NativePanel } from './NativePanel.tsx';
import { Preferences } from './Preferences.tsx';
import { WorkspacePanel } from './WorkspacePanel.tsx';

export function Settings({ tab }: { readonly tab: 'settings' | 'doctor' }) {
  const [, navigate] = useLocation();
  return (
    <Screen title={tab === 'doctor' ? 'Doctor' : 'Settings'}>
      <Tabs
        value={tab}
        onChange={(to) => navigate(to === 'doctor' ? '/settings/doctor' : '/settings')}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="settings">Settings</Tabs.Tab>
          <Tabs.Tab value="doctor">Doctor</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="settings">
          <Preferences />
          <EnginesPanel />
          <HubPanel />
          <WorkspacePanel />
        </Tabs.Panel>
        <Tabs.Panel value="doctor">
          <Doctor />
          <GpuReportPanel />
          <NativePanel />
        </Tabs.Panel>
      </Tabs>
    </Screen>
  );
}
