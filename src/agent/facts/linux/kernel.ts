import type { Argv } from '../../../kit/command.ts'
import { type FactSource, readRequiredFile } from '../source.ts'
import type { Fact } from './fact.ts'
import { readKernelModules } from './kernel-modules.ts'

/**
 * Commands that test a kernel feature by using it, if neither modules nor files show it. They run in a
 * temporary network namespace, so the host's network does not change.
 */
const featureCommands = {
  bridge: ['ip', 'link', 'add', 'name', 'trial', 'type', 'bridge'],
  vxlan: ['ip', 'link', 'add', 'name', 'trial', 'type', 'vxlan', 'id', '1', 'dstport', '4789'],
  // Statements of the kinds that kube-proxy's rules contain.
  nftables: [
    'nft',
    [
      'add table ip trial',
      'add chain ip trial target',
      'add chain ip trial nat { type nat hook postrouting priority 100 ; }',
      'add rule ip trial nat fib daddr type local masquerade',
      'add rule ip trial nat numgen random mod 1 vmap { 0 : goto target }',
    ].join('; '),
  ],
  iptables: [
    ...['iptables', '-w', '2', '-t', 'nat', '-A', 'POSTROUTING'],
    ...['-m', 'comment', '--comment', 'trial', '-j', 'MASQUERADE'],
  ],
} as const satisfies Readonly<Record<string, Argv>>

async function canUseFeature({ run }: FactSource, feature: keyof typeof featureCommands): Promise<boolean> {
  return (await run(['unshare', '--net', ...featureCommands[feature]])).code === 0
}

/** Modules that kube-proxy's rules need, by their names since kernel 5.2. */
const nftablesModules = ['nf_tables', 'nft_chain_nat', 'nft_fib_ipv4', 'nft_masq', 'nft_nat', 'nft_numgen']
/**
 * Modules of the two iptables variants, the one on top of nftables and the legacy one. One of the two sets is
 * sufficient.
 */
const iptablesModules = [
  ['nf_tables', 'nft_compat'],
  ['ip_tables', 'iptable_nat'],
]

export const readKernel: Fact<'kernel'> = async (source) => {
  const release = (await readRequiredFile(source, '/proc/sys/kernel/osrelease')).trim()
  const modules = await readKernelModules(source, release)
  const { has } = modules
  const hasAll = async (names: readonly string[]): Promise<boolean> =>
    (await Promise.all(names.map(has))).every(Boolean)
  const [overlay, vxlan, bridge, bridgeNetfilter, nftables, iptables] = await Promise.all([
    isAnyTrue(
      async () => hasFileSystem((await source.readFile('/proc/filesystems')) ?? '', 'overlay'),
      async () => has('overlay'),
    ),
    isAnyTrue(
      async () => has('vxlan'),
      async () => canUseFeature(source, 'vxlan'),
    ),
    isAnyTrue(
      async () => has('bridge'),
      async () => canUseFeature(source, 'bridge'),
    ),
    isAnyTrue(
      async () => source.exists('/proc/sys/net/bridge/bridge-nf-call-iptables'),
      async () => has('br_netfilter'),
    ),
    isAnyTrue(
      async () => hasAll(nftablesModules),
      async () => canUseFeature(source, 'nftables'),
    ),
    isAnyTrue(
      async () => source.exists('/proc/net/ip_tables_names'),
      ...iptablesModules.map((names) => async () => hasAll(names)),
      async () => canUseFeature(source, 'iptables'),
    ),
  ])
  return { release, modules: modules.loadable, overlay, vxlan, bridge, bridgeNetfilter, nftables, iptables }
}

/** Runs the checks in order until one returns true. The cheapest check comes first. */
async function isAnyTrue(...checks: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  for (const check of checks) if (await check()) return true
  return false
}

/** True if /proc/filesystems contains the file system. */
export function hasFileSystem(text: string, name: string): boolean {
  return text.split('\n').some((line) => line.split('\t')[1] === name)
}
