/** Larger than any valid input, so that an input over its limit gets an error that names the parameter. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024
