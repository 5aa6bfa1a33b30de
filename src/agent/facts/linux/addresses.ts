import type { FactSource } from '../source.ts'
import type { Fact } from './fact.ts'

export const addresses: Fact<'addresses'> = async (source) => {
  const found = Object.entries(source.interfaces()).flatMap(([name, infos = []]) =>
    infos.flatMap(({ address, cidr, mac }) =>
      cidr === null || isLinkLocal(address)
        ? []
        : [{ name, device: deviceOf(name), mac, address, prefix: Number(cidr.split('/')[1]) }],
    ),
  )
  const mtus = await mtusOf(source, new Map(found.map(({ device, mac }) => [device, mac])))
  return found.map(({ name, device, address, prefix }) => {
    const mtu = mtus.get(device)
    return { interface: name, address, prefix, ...(mtu === undefined ? {} : { mtu }) }
  })
}

/** Every interface gives itself one, and nobody finds a host by it. */
function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address)
}

/** A second address of eth0 may be labelled eth0:1. */
function deviceOf(label: string): string {
  return label.split(':')[0] ?? label
}

type Mtus = ReadonlyMap<string, number>

/**
 * In a container /sys may show the interfaces of the machine around it, of which one is called eth0 too. The hardware
 * addresses tell; then a program has to be asked.
 */
async function mtusOf(source: FactSource, macs: ReadonlyMap<string, string>): Promise<Mtus> {
  const seen = await Promise.all(
    [...macs].map(async ([name, mac]) => {
      const directory = `/sys/class/net/${name}`
      const [address, mtu] = await Promise.all(
        ['address', 'mtu'].map((file) => source.readFile(`${directory}/${file}`)),
      )
      return address?.trim() === mac && mtu !== undefined ? [[name, Number(mtu)] as const] : []
    }),
  )
  if (seen.every((one) => one.length > 0)) return new Map(seen.flat())
  return parseLinks((await source.run(['ip', '-o', 'link'])).stdout)
}

/** What `ip -o link` prints: the MTU of each interface. */
export function parseLinks(text: string): Mtus {
  const links = text.matchAll(/^\d+: ([^:@\s]+)(?:@\S+)?: .*? mtu (\d+) /gm)
  return new Map([...links].map(([, name = '', mtu]) => [name, Number(mtu)]))
}
