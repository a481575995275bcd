/** The daemon sends nothing else; a page that is older or newer than it must not pass anything on into a style. */
export const safeColour = (color: string | undefined) =>
  color !== undefined && /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(color) ? color : undefined
