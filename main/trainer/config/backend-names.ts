/** The tensor backends by name: what a setting or option may ask for. */
export const BACKEND_SETTINGS = ['auto', 'native', 'webgpu', 'wasm'] as const;

export type BackendSetting = (typeof BACKEND_SETTINGS)[number];

/** A backend that runs. */
export type BackendName = Exclude<BackendSetting, 'auto'>;
