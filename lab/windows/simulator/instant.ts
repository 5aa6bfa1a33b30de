/** Creation time of every simulated machine. */
export const epoch = Date.UTC(2026, 0, 1)

/** Formats machine time as Windows does. */
export function formatInstant(time: number): string {
  return new Date(epoch + time).toISOString()
}
