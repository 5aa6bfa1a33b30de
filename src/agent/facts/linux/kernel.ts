import { readRequiredFile } from '../source.ts'
import type { Fact } from './fact.ts'
import { readKernelModules } from './kernel-modules.ts'
import { canUseFeature } from './kernel-trials.ts'

/** Modules that kube-proxy's rules need, with their names since kernel 5.2. */
const nftablesModules = ['nf_tables', 'nft_chain_nat', 'nft_fib_ipv4', 'nft_masq', 'nft_nat', 'nft_numgen']
/** The iptables program is either a frontend of nftables or the legacy one. */
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

/** Runs the checks in order, cheap ones first, until one returns true. */
async function isAnyTrue(...checks: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  for (const check of checks) if (await check()) return true
  return false
}

/** Parses /proc/filesystems. */
export function hasFileSystem(text: string, name: string): boolean {
  return text.split('\n').some((line) => line.split('\t')[1] === name)
}
