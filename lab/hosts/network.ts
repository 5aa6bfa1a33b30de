import { run } from '../../src/kit/command.ts'
import { gatewayAddress, hostMark, networkName } from './names.ts'

/** One bridge per lab, made whole again whatever an earlier run has left of it. */
export async function makeBridge(network: number): Promise<void> {
  const bridge = networkName(network)
  const gateway = gatewayAddress(network)
  if (!(await links(bridge)).includes(bridge)) await run(['ip', 'link', 'add', bridge, 'type', 'bridge'])
  await run(['ip', 'address', 'replace', `${gateway}/24`, 'dev', bridge])
  await run(['ip', 'link', 'set', bridge, 'up'])
  // Hosts reach each other and the gateway: nothing else of the machine, no other lab, and nothing beyond.
  await run(['nft', '-f', '-'], {
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
      }
    }`,
  })
}

export async function removeBridge(network: number): Promise<void> {
  const bridge = networkName(network)
  if ((await links(bridge)).includes(bridge)) await run(['ip', 'link', 'delete', bridge])
  await run(['nft', 'delete', 'table', 'inet', bridge], { allowFailure: true })
}

export interface HostNetwork {
  readonly network: number
  readonly host: string
  readonly address: string
}

export async function plugIn({ network, host, address }: HostNetwork): Promise<void> {
  const mark = hostMark(network, host)
  await run(['ip', 'netns', 'add', mark])
  const peer = ['peer', 'name', 'eth0', 'netns', mark, 'address', hardwareAddress(address)]
  await run(['ip', 'link', 'add', mark, 'type', 'veth', ...peer])
  await run(['ip', 'link', 'set', mark, 'master', networkName(network), 'up'])
  await run(['ip', '-batch', '-', '-netns', mark], {
    input: `address add ${address}/24 dev eth0
      link set lo up
      link set eth0 up
      route add default via ${gatewayAddress(network)}
    `,
  })
}

/** The end of a virtual machine's cable: what is at the other one, it sets itself. */
export async function plugInVirtual({ network, host }: Omit<HostNetwork, 'address'>): Promise<void> {
  const mark = hostMark(network, host)
  await run(['ip', 'tuntap', 'add', 'dev', mark, 'mode', 'tap'])
  await run(['ip', 'link', 'set', mark, 'master', networkName(network), 'up'])
}

/** A machine keeps it over a reboot: with a new one, its neighbours would not find it for half a minute. */
export function hardwareAddress(address: string): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
  return ['02', '00', ...bytes].join(':')
}

export async function unplug(mark: string): Promise<void> {
  if ((await links(mark)).includes(mark)) await run(['ip', 'link', 'delete', mark])
  if ((await namespaces(mark)).includes(mark)) await run(['ip', 'netns', 'delete', mark])
}

/** The machine's interfaces whose name starts so. */
export async function links(prefix: string): Promise<string[]> {
  const { stdout } = await run(['ip', '-json', 'link', 'show'])
  const all: { ifname: string }[] = JSON.parse(stdout)
  return all.map(({ ifname }) => ifname).filter((name) => name.startsWith(prefix))
}

/** The machine's network namespaces whose name starts so. */
export async function namespaces(prefix: string): Promise<string[]> {
  const { stdout } = await run(['ip', '-json', 'netns', 'list'])
  const all: { name: string }[] = stdout.trim() === '' ? [] : JSON.parse(stdout)
  return all.map(({ name }) => name).filter((name) => name.startsWith(prefix))
}

/** The machine's nft tables whose name starts so. */
export async function tables(prefix: string): Promise<string[]> {
  const { stdout } = await run(['nft', '--json', 'list', 'tables'])
  const { nftables }: { nftables: { table?: { name: string } }[] } = JSON.parse(stdout)
  return nftables.flatMap(({ table }) => (table?.name.startsWith(prefix) === true ? [table.name] : []))
}
