import { runProgram } from '../../src/kit/command.ts'
import { gatewayAddress, formatHostId, networkName, toIpv6Address } from './names.ts'

/** Creates the bridge of a lab, or completes one that an earlier run left. */
export async function makeBridge(network: number): Promise<void> {
  const bridge = networkName(network)
  const gateway = gatewayAddress(network)
  if (!(await listLinks(bridge)).includes(bridge))
    await runProgram(['ip', 'link', 'add', bridge, 'type', 'bridge'])
  const ipv6Gateway = toIpv6Address(gateway)
  await runProgram(['ip', 'address', 'replace', `${gateway}/24`, 'dev', bridge])
  await runProgram(['ip', 'address', 'replace', `${ipv6Gateway}/64`, 'dev', bridge, 'nodad'])
  await runProgram(['ip', 'link', 'set', bridge, 'up'])
  // Hosts reach each other and the gateway, but not other addresses of the machine that runs the lab, other
  // labs or the internet.
  await runProgram(['nft', '-f', '-'], {
    input: `table inet ${bridge} {}
    delete table inet ${bridge}
    table inet ${bridge} {
      chain forward {
        type filter hook forward priority -10;
        iifname ${bridge} oifname != ${bridge} reject
        oifname ${bridge} iifname != ${bridge} reject
      }
      chain input {
        type filter hook input priority -10;
        iifname ${bridge} ip daddr != ${gateway} reject
        iifname ${bridge} ip6 daddr != { ${ipv6Gateway}, fe80::/10, ff00::/8 } reject
      }
    }`,
  })
}

export async function removeBridge(network: number): Promise<void> {
  const bridge = networkName(network)
  if ((await listLinks(bridge)).includes(bridge)) await runProgram(['ip', 'link', 'delete', bridge])
  await runProgram(['nft', 'delete', 'table', 'inet', bridge], { allowFailure: true })
}

export interface HostNetwork {
  readonly network: number
  readonly host: string
  readonly address: string
}

export async function attachHostNetwork({ network, host, address }: HostNetwork): Promise<void> {
  const hostId = formatHostId(network, host)
  await runProgram(['ip', 'netns', 'add', hostId])
  const peer = ['peer', 'name', 'eth0', 'netns', hostId, 'address', hardwareAddress(address)]
  await runProgram(['ip', 'link', 'add', hostId, 'type', 'veth', ...peer])
  await runProgram(['ip', 'link', 'set', hostId, 'master', networkName(network), 'up'])
  await runProgram(['ip', '-batch', '-', '-netns', hostId], {
    input: `address add ${address}/24 dev eth0
      link set lo up
      link set eth0 up
      address add ${toIpv6Address(address)}/64 dev eth0 nodad
      route add default via ${gatewayAddress(network)}
      route add ::/0 via ${toIpv6Address(gatewayAddress(network))}
    `,
  })
}

/** Creates the tap device of a virtual machine. The virtual machine configures its own address. */
export async function attachTapDevice({ network, host }: Omit<HostNetwork, 'address'>): Promise<void> {
  const hostId = formatHostId(network, host)
  await runProgram(['ip', 'tuntap', 'add', 'dev', hostId, 'mode', 'tap'])
  await runProgram(['ip', 'link', 'set', hostId, 'master', networkName(network), 'up'])
}

/**
 * Derives the MAC address from the IP address, so it stays the same over a reboot. With a new MAC address,
 * peers would not reach the host for half a minute.
 */
export function hardwareAddress(address: string): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
  return ['02', '00', ...bytes].join(':')
}

export async function detachHostNetwork(hostId: string): Promise<void> {
  if ((await listLinks(hostId)).includes(hostId)) await runProgram(['ip', 'link', 'delete', hostId])
  if ((await listNamespaces(hostId)).includes(hostId)) await runProgram(['ip', 'netns', 'delete', hostId])
}

/** Lists network interfaces of the machine that runs the lab whose names start with the prefix. */
export async function listLinks(prefix: string): Promise<string[]> {
  const { stdout } = await runProgram(['ip', '-json', 'link', 'show'])
  const all: { ifname: string }[] = JSON.parse(stdout)
  return all.map(({ ifname }) => ifname).filter((name) => name.startsWith(prefix))
}

/** Lists network namespaces of the machine that runs the lab whose names start with the prefix. */
export async function listNamespaces(prefix: string): Promise<string[]> {
  const { stdout } = await runProgram(['ip', '-json', 'netns', 'list'])
  const all: { name: string }[] = stdout.trim() === '' ? [] : JSON.parse(stdout)
  return all.map(({ name }) => name).filter((name) => name.startsWith(prefix))
}

/** Lists the nft tables whose names start with the prefix, on the machine that runs the lab. */
export async function listTables(prefix: string): Promise<string[]> {
  const { stdout } = await runProgram(['nft', '--json', 'list', 'tables'])
  const { nftables }: { nftables: { table?: { name: string } }[] } = JSON.parse(stdout)
  return nftables.flatMap(({ table }) => (table?.name.startsWith(prefix) === true ? [table.name] : []))
}
