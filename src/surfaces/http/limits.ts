/** Larger than any accepted input, so that too much gets an answer that names the parameter. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024
