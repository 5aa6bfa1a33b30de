import type { FactSource } from '../source.ts'
import type { Fact } from './fact.ts'

export const readAddresses: Fact<'addresses'> = async (source) => {
  const found = Object.entries(source.interfaces()).flatMap(([name, infos = []]) =>
    infos.flatMap(({ address, cidr, mac }) =>
      cidr === null || isLinkLocal(address)
        ? []
        : [{ name, device: toDevice(name), mac, address, prefix: Number(cidr.split('/')[1]) }],
    ),
  )
  const mtus = await readMtus(source, new Map(found.map(({ device, mac }) => [device, mac])))
  return found.map(({ name, device, address, prefix }) => {
    const mtu = mtus.get(device)
    return { interface: name, address, prefix, ...(mtu === undefined ? {} : { mtu }) }
  })
}

/**
 * True for IPv6 link-local addresses. Every interface has one, but hosts cannot reach each other by it
 * without naming an interface.
 */
function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address)
}

/** Returns the device of an address label: a second address of eth0 may have the label eth0:1. */
function toDevice(label: string): string {
  return label.split(':')[0] ?? label
}

type Mtus = ReadonlyMap<string, number>

/**
 * Reads the MTU of each interface from /sys. In a container, /sys may show the interfaces of the machine
 * instead. If a MAC address differs, `ip` is used.
 */
async function readMtus(source: FactSource, macs: ReadonlyMap<string, string>): Promise<Mtus> {
  const fromSys = await Promise.all(
    [...macs].map(async ([name, mac]) => {
      const directory = `/sys/class/net/${name}`
      const [address, mtu] = await Promise.all(
        ['address', 'mtu'].map((file) => source.readFile(`${directory}/${file}`)),
      )
      return address?.trim() === mac && mtu !== undefined ? [[name, Number(mtu)] as const] : []
    }),
  )
  if (fromSys.every((one) => one.length > 0)) return new Map(fromSys.flat())
  return parseLinks((await source.run(['ip', '-o', 'link'])).stdout)
}

/** Parses the MTU of each interface from the output of `ip -o link`. */
export function parseLinks(text: string): Mtus {
  const links = text.matchAll(/^\d+: ([^:@\s]+)(?:@\S+)?: .*? mtu (\d+) /gm)
  return new Map([...links].map(([, name = '', mtu]) => [name, Number(mtu)]))
}
