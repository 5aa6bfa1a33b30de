import { toDevice } from '../../../contract/facts.ts'
import { type Fact, type FactSource, readRequiredFile } from '../source.ts'

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
 * True for IPv6 link-local addresses. Every interface has such an address, but other hosts can use it only
 * together with the name of an interface.
 */
function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address)
}

type Mtus = ReadonlyMap<string, number>

/**
 * Reads the MTU of each interface from /sys. In a container, /sys may show the interfaces of the container's
 * host. If any MAC address in /sys differs from the one in `macs`, the output of `ip` is used instead.
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

export const readHostname: Fact<'hostname'> = async (source) =>
  (await readRequiredFile(source, '/proc/sys/kernel/hostname')).trim()

export const readMachineId: Fact<'machineId'> = async ({ readFile }) =>
  parseMachineId((await readFile('/etc/machine-id')) ?? '')

/**
 * Parses /etc/machine-id. Before its first boot an image may contain `uninitialized`, which is not an id,
 * because all copies share it.
 */
export function parseMachineId(text: string): string {
  return /^[0-9a-f]{32}$/.exec(text.trim())?.[0] ?? ''
}

const resolverFile = '/etc/resolv.conf'
/**
 * File in which systemd-resolved lists the upstream servers. /etc/resolv.conf may name only the local stub of
 * systemd-resolved.
 */
const resolvedFile = '/run/systemd/resolve/resolv.conf'

export const readResolver: Fact<'resolver'> = async ({ readFile, readLink }) => {
  const [shown, link, upstream] = await Promise.all([
    readFile(resolverFile),
    readLink(resolverFile),
    readFile(resolvedFile),
  ])
  const servers = parseServers(shown ?? '')
  const systemdResolved = isStub(servers) || (link ?? '').includes('/run/systemd/resolve/')
  if (!isStub(servers) || upstream === undefined) return { file: resolverFile, servers, systemdResolved }
  return { file: resolvedFile, servers: parseServers(upstream), systemdResolved }
}

/** Lists the name servers. As in resolv.conf(5), the keyword must be at the start of a line. */
export function parseServers(text: string): string[] {
  return [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].map(([, server = '']) => server)
}

/** True if all servers are stub addresses of systemd-resolved, which respond only on the host itself. */
function isStub(servers: readonly string[]): boolean {
  return servers.length > 0 && servers.every((server) => server === '127.0.0.53' || server === '127.0.0.54')
}
