import type { Fact, FactSource } from '../source.ts'
import { refusesToList } from './system.ts'

export const readIpv6: Fact<'ipv6'> = async (source) => {
  // The kernel has this file only with IPv6.
  const routes = await source.readFile('/proc/net/ipv6_route')
  if (routes === undefined) return undefined
  const defaultInterface = parseIpv6Routes(routes)
  const routerAdvertisements = await listRouterAdvertisements(source)
  return {
    ...(defaultInterface === undefined ? {} : { defaultInterface }),
    routerAdvertisements,
    ...((await refusesToList(source, 'ip6tables')) ? { foreignFilterTable: true } : {}),
  }
}

/** Lists interfaces with an IPv6 address on which the kernel accepts router advertisements, even if it forwards. */
async function listRouterAdvertisements({ interfaces, readFile }: FactSource): Promise<string[]> {
  const names = Object.entries(interfaces()).flatMap(([name, infos = []]) =>
    infos.some(({ family, internal }) => family === 'IPv6' && !internal) ? [name] : [],
  )
  const values = await Promise.all(
    names.map(async (name) => (await readFile(`/proc/sys/net/ipv6/conf/${name}/accept_ra`))?.trim()),
  )
  return names.filter((_, index) => values[index] === '1' || values[index] === '2')
}

const isUp = 0x1
const isReject = 0x200

/** Returns the interface of the IPv6 default route with the lowest metric. Parses /proc/net/ipv6_route. */
export function parseIpv6Routes(text: string): string | undefined {
  const routes = text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([destination = '', prefix, , , , metric = '', , , flags = '0', name]) => ({
      name,
      isDefault: /^0{32}$/.test(destination) && prefix === '00',
      flags: Number.parseInt(flags, 16),
      metric: Number.parseInt(metric, 16),
    }))
    .filter(({ isDefault, flags }) => isDefault && (flags & isUp) !== 0 && (flags & isReject) === 0)
  return routes.toSorted((a, b) => a.metric - b.metric)[0]?.name
}
