/** A moment of the machine as Windows writes it. */
export function instantOf(time: number): string {
  return new Date(Date.UTC(2026, 0, 1) + time).toISOString()
}
