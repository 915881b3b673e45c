/** Matrix units as adapters offer them. */
import type { MatrixUnit } from '../../../main/tensor/webgpu/matrix-units.ts';

const FLOAT16 = { element: 'f16', m: 16, n: 16, k: 16, lanes: 32, sized: false } as const satisfies MatrixUnit;

/** NVIDIA's, and AMD's where the driver lets a program choose. */
export const NVIDIA: MatrixUnit = FLOAT16;
export const AMD: MatrixUnit = { ...FLOAT16, sized: true };
/** Where a driver has subgroups of 64 alone. */
export const WIDE: MatrixUnit = { ...FLOAT16, lanes: 64 };
export const INTEL: MatrixUnit = { ...FLOAT16, m: 8, lanes: 16, sized: true };
export const APPLE: MatrixUnit = { element: 'f32', m: 8, n: 8, k: 8, lanes: 32, sized: false };
/** Of Mesa's software driver, which runs these programs where there is no GPU. */
export const MESA: MatrixUnit = { ...FLOAT16, m: 8, n: 8, k: 8, lanes: 8 };
