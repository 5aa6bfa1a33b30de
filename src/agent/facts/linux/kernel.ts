import { readNeeded } from '../source.ts'
import type { Fact } from './fact.ts'
import { kernelModules } from './kernel-modules.ts'
import { succeeds } from './kernel-trials.ts'

/** What kube-proxy's rules need, by the names that the kernel's own modules have had since 5.2. */
const nftablesModules = ['nf_tables', 'nft_chain_nat', 'nft_fib_ipv4', 'nft_masq', 'nft_nat', 'nft_numgen']
/** The program iptables is either a view of nftables, or the old thing itself. */
const iptablesModules = [
  ['nf_tables', 'nft_compat'],
  ['ip_tables', 'iptable_nat'],
]

export const kernel: Fact<'kernel'> = async (source) => {
  const release = (await readNeeded(source, '/proc/sys/kernel/osrelease')).trim()
  const modules = await kernelModules(source, release)
  const { has } = modules
  const hasAll = async (names: readonly string[]): Promise<boolean> =>
    (await Promise.all(names.map(has))).every(Boolean)
  const [overlay, vxlan, bridge, bridgeNetfilter, nftables, iptables] = await Promise.all([
    either(
      async () => hasFileSystem((await source.readFile('/proc/filesystems')) ?? '', 'overlay'),
      async () => has('overlay'),
    ),
    either(
      async () => has('vxlan'),
      async () => succeeds(source, 'vxlan'),
    ),
    either(
      async () => has('bridge'),
      async () => succeeds(source, 'bridge'),
    ),
    either(
      async () => source.exists('/proc/sys/net/bridge/bridge-nf-call-iptables'),
      async () => has('br_netfilter'),
    ),
    either(
      async () => hasAll(nftablesModules),
      async () => succeeds(source, 'nftables'),
    ),
    either(
      async () => source.exists('/proc/net/ip_tables_names'),
      ...iptablesModules.map((names) => async () => hasAll(names)),
      async () => succeeds(source, 'iptables'),
    ),
  ])
  return { release, modules: modules.loadable, overlay, vxlan, bridge, bridgeNetfilter, nftables, iptables }
}

/** Asks one after the other, the cheap ones first, until one says yes. */
async function either(...questions: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  for (const ask of questions) if (await ask()) return true
  return false
}

/** From the text of /proc/filesystems. */
export function hasFileSystem(text: string, name: string): boolean {
  return text.split('\n').some((line) => line.split('\t')[1] === name)
}
