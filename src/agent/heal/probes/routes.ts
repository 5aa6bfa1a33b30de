/** The networks that a host has routes for, from /proc/net/route: 10.244.3.0/24. */
export function routedNetworks(text: string): ReadonlySet<string> {
  const lines = text.split('\n').slice(1)
  return new Set(
    lines.flatMap((line) => {
      const [, destination = '', , flags = '', , , , mask = ''] = line.split('\t')
      const isUsed = (Number.parseInt(flags, 16) & usable) === up
      return isUsed ? [`${addressOf(destination)}/${prefixOf(mask)}`] : []
    }),
  )
}

/** RTF_UP, and without RTF_REJECT. */
const up = 0x1
const usable = up | 0x200

/** As the kernel has it in its memory: the last byte comes first. */
function addressOf(hex: string): string {
  return [...Buffer.from(hex, 'hex')].toReversed().join('.')
}

function prefixOf(hex: string): number {
  return Number.parseInt(hex, 16).toString(2).replaceAll('0', '').length
}
