/** Creation time of every simulated machine, in milliseconds since 1970. */
export const epoch = Date.UTC(2026, 0, 1)

/** Formats a time of the simulated machine as an ISO timestamp. */
export function formatInstant(time: number): string {
  return new Date(epoch + time).toISOString()
}
