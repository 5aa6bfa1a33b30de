/** When every simulated machine is made. */
export const epoch = Date.UTC(2026, 0, 1)

/** A moment of the machine as Windows writes it. */
export function instantOf(time: number): string {
  return new Date(epoch + time).toISOString()
}
