/** Parses /proc/net/route. Returns the networks that the host has routes for, such as 10.244.3.0/24. */
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

/** RTF_UP without RTF_REJECT. */
const up = 0x1
const usable = up | 0x200

/** Little-endian, as the kernel prints it. */
function toAddress(hex: string): string {
  return [...Buffer.from(hex, 'hex')].toReversed().join('.')
}

function toPrefixLength(hex: string): number {
  return Number.parseInt(hex, 16).toString(2).replaceAll('0', '').length
}
