import type { Fact } from './fact.ts'

export const readDefaultInterface: Fact<'defaultInterface'> = async ({ readFile }) =>
  parseRoutes((await readFile('/proc/net/route')) ?? '')

const isUp = 0x1
const isReject = 0x200

/** Returns the interface of the default route with the lowest metric, which the kernel uses. */
export function parseRoutes(text: string): string | undefined {
  const routes = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .map(([name, destination, , flags = '0', , , metric, mask]) => ({
      name,
      isDefault: destination === '00000000' && mask === '00000000',
      flags: Number.parseInt(flags, 16),
      metric: Number(metric),
    }))
    .filter(({ isDefault, flags }) => isDefault && (flags & isUp) !== 0 && (flags & isReject) === 0)
  return routes.toSorted((a, b) => a.metric - b.metric)[0]?.name
}
