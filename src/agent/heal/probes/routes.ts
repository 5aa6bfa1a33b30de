/** Parses /proc/net/route. Returns the networks to which the host has a route, for example 10.244.3.0/24. */
export function listRoutedNetworks(text: string): ReadonlySet<string> {
  const lines = text.split('\n').slice(1)
  return new Set(
    lines.flatMap((line) => {
      const [, destination = '', , flags = '', , , , mask = ''] = line.split('\t')
      const isUsed = (Number.parseInt(flags, 16) & usable) === up
      return isUsed ? [`${toAddress(destination)}/${toPrefixLength(mask)}`] : []
    }),
  )
}

/** Route flags: a usable route has RTF_UP and not RTF_REJECT (0x200). */
const up = 0x1
const usable = up | 0x200

/** Converts an address of /proc/net/route, which is little-endian hex. */
function toAddress(hex: string): string {
  return [...Buffer.from(hex, 'hex')].toReversed().join('.')
}

function toPrefixLength(hex: string): number {
  return Number.parseInt(hex, 16).toString(2).replaceAll('0', '').length
}
