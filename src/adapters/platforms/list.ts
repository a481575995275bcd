import type { Platform } from "../../domain/platform.ts"

/** Every platform that is captured. To add one, write its file and name it here. */
export const platforms: readonly Platform[] = []
