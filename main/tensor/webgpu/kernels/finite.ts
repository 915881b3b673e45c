/**
 * WGSL that never goes through infinity. Drivers may compile with maths that assumes that there is none (Metal does by
 * default), and Vulkan promises nothing of a division by more than 2^126.
 */

/** `expDown(x)`, exp of -x up to e^80. 1 / (1 + expDown(x)) is the sigmoid: where the bound shows, it is below 1e-34. */
export const expDownOf = (type: 'f32' | 'vec4<f32>'): string =>
  `fn expDown(x: ${type}) -> ${type} { return exp(min(-x, ${type}(80.0))); }`;
