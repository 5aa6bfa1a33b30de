import { formatIpv6 } from '../../../kit/ipv6.ts'
import type { ProbeDeps } from './probe-deps.ts'

/**
 * Returns the networks to which the host has a route, for example 10.244.3.0/24. Reads files of the kernel,
 * because starting a program would cost more.
 */
export async function readRoutedNetworks(
  { files }: Pick<ProbeDeps, 'files'>,
  families: readonly (4 | 6)[],
): Promise<ReadonlySet<string>> {
  const readText = async (path: string) => (await files.read(path))?.toString('utf8') ?? ''
  return new Set([
    ...(families.includes(4) ? listRoutedNetworks(await readText('/proc/net/route')) : []),
    ...(families.includes(6) ? listRoutedIpv6Networks(await readText('/proc/net/ipv6_route')) : []),
  ])
}

/**
 * Route flag RTF_UP. The mask `usable` also contains RTF_REJECT (0x200), which a usable route does not have.
 */
const up = 0x1
const usable = up | 0x200

/** Parses /proc/net/route. */
export function listRoutedNetworks(text: string): ReadonlySet<string> {
  const lines = text.split('\n').slice(1)
  return new Set(
    lines.flatMap((line) => {
      const [, destination = '', , flags = '', , , , mask = ''] = line.split('\t')
      return isUsable(flags) ? [`${toAddress(destination)}/${toPrefixLength(mask)}`] : []
    }),
  )
}

/** Parses /proc/net/ipv6_route, which has no heading. */
export function listRoutedIpv6Networks(text: string): ReadonlySet<string> {
  return new Set(
    text.split('\n').flatMap((line) => {
      const [destination = '', prefix = '', , , , , , , flags = ''] = line.split(/\s+/)
      const groups = destination.match(/[0-9a-f]{4}/g)?.map((group) => Number.parseInt(group, 16)) ?? []
      return groups.length === 8 && isUsable(flags)
        ? [`${formatIpv6(groups)}/${Number.parseInt(prefix, 16)}`]
        : []
    }),
  )
}

function isUsable(flags: string): boolean {
  return (Number.parseInt(flags, 16) & usable) === up
}

/** Converts an address of /proc/net/route, which is little-endian hex. */
function toAddress(hex: string): string {
  return [...Buffer.from(hex, 'hex')].toReversed().join('.')
}

function toPrefixLength(hex: string): number {
  return Number.parseInt(hex, 16).toString(2).replaceAll('0', '').length
}
