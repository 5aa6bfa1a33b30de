import type { LinuxHost } from '../host/host.ts'

/** What kube-router creates in the kernel, by name prefixes. It stays when kube-router ends. */
export const policyRules = {
  chains: ['KUBE-ROUTER-', 'KUBE-NWPLCY-', 'KUBE-POD-FW-'],
  sets: [
    'KUBE-SRC-',
    'KUBE-DST-',
    'kube-router-',
    'inet6:KUBE-SRC-',
    'inet6:KUBE-DST-',
    'inet6:kube-router-',
  ],
} as const

/** Unit of kube-router. Its rules are removed with it, because they would soon block the wrong pods. */
export const policyService = 'kube-router.service'

/**
 * What kube-proxy creates in the kernel: tables by name, chains by name prefixes. The kubelet has chains of
 * its own with the prefix KUBE-, which are not listed here.
 */
export const proxyRules = {
  tables: ['kube-proxy'],
  chains: [
    'KUBE-SERVICES',
    'KUBE-NODEPORTS',
    'KUBE-POSTROUTING',
    'KUBE-MARK-',
    'KUBE-EXTERNAL-SERVICES',
    'KUBE-FORWARD',
    'KUBE-PROXY-',
    'KUBE-SVC-',
    'KUBE-SVL-',
    'KUBE-EXT-',
    'KUBE-FW-',
    'KUBE-SEP-',
  ],
} as const

/** Unit of kube-proxy. Its rules are removed with it, because they would send packets to pods of the past. */
export const proxyService = 'kube-proxy.service'

type PacketHost = Pick<LinuxHost, 'packets' | 'clock'>

/** Removes the rules and the sets of kube-router. */
export async function removePolicyRules(host: PacketHost): Promise<readonly string[]> {
  const chains = await removeChains(host, policyRules.chains)
  return [...chains, ...(await removeSets(host, policyRules.sets, new AbortController().signal))]
}

/** Removes the nftables tables of kube-proxy, and the iptables chains with the given prefixes. */
export async function removeProxyRules(
  host: Pick<LinuxHost, 'packets'>,
  chains: readonly string[],
): Promise<readonly string[]> {
  const tables = await removeTables(host, proxyRules.tables)
  return [...tables, ...(await removeChains(host, chains))]
}

/** Removes nftables tables with these names, of all families. Returns them. */
export async function removeTables(
  { packets }: Pick<LinuxHost, 'packets'>,
  names: readonly string[],
): Promise<readonly string[]> {
  const found = (await packets.tables()).filter(({ name }) => names.includes(name))
  for (const table of found) await packets.removeTable(table)
  return found.map(({ family, name }) => `${family} ${name}`)
}

/** Removes iptables chains with these prefixes and the rules that jump to them. Returns their names. */
export async function removeChains(
  { packets }: Pick<LinuxHost, 'packets'>,
  prefixes: readonly string[],
): Promise<readonly string[]> {
  if (prefixes.length === 0) return []
  const removed: string[] = []
  for (const version of [4, 6] as const) {
    const { text, names } = buildChainRemoval(await packets.rules(version), prefixes)
    if (names.length > 0) await packets.changeRules(version, text)
    removed.push(...names)
  }
  await removeEmptyTables({ packets })
  return removed
}

/** Tables that iptables creates in nftables, even if it only lists rules. */
const iptablesTables = new Set(['filter', 'nat', 'mangle', 'raw', 'security'])

/**
 * Removes empty tables of iptables. This is safe even if another program created the table, because an empty
 * table has no effect.
 */
async function removeEmptyTables({ packets }: Pick<LinuxHost, 'packets'>): Promise<void> {
  for (const table of await packets.tables()) {
    const isIptablesTable = iptablesTables.has(table.name) && ['ip', 'ip6'].includes(table.family)
    if (isIptablesTable && (await packets.isEmpty(table))) await packets.removeTable(table)
  }
}

/** Milliseconds between two attempts to remove sets, and the number of attempts. */
const setIntervalMs = 100
const maxSetAttempts = 50

/**
 * Removes ipsets with these prefixes and returns their names. The kernel releases a set some time after the
 * last rule that used it, so the removal is repeated.
 */
export async function removeSets(
  { packets, clock }: PacketHost,
  prefixes: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (prefixes.length === 0) return []
  const isOurs = (name: string): boolean => prefixes.some((prefix) => name.startsWith(prefix))
  const found = (await packets.sets()).filter(isOurs)
  for (let attempt = 1; ; attempt++) {
    const remaining = (await packets.sets()).filter(isOurs)
    if (remaining.length === 0) return found
    if (attempt > maxSetAttempts) throw new Error(`ipsets are still in use: ${remaining.join(', ')}`)
    for (const name of remaining) await packets.removeSet(name)
    if ((await packets.sets()).some(isOurs)) await clock.pause(setIntervalMs, signal)
  }
}

/**
 * Builds input for iptables-restore that removes all chains with these prefixes. `saved` is the output of
 * iptables-save.
 */
export function buildChainRemoval(
  saved: string,
  prefixes: readonly string[],
): { readonly text: string; readonly names: readonly string[] } {
  const isOurs = (name: string): boolean => prefixes.some((prefix) => name.startsWith(prefix))
  const tables = saved.split(/^(?=\*)/m).map((table) => buildTableRemoval(table.split('\n'), isOurs))
  return { text: tables.map(({ text }) => text).join(''), names: tables.flatMap(({ names }) => names) }
}

function buildTableRemoval(lines: readonly string[], isOurs: (name: string) => boolean) {
  const table = lines.find((line) => line.startsWith('*'))
  const chains = lines.flatMap((line) => /^:(\S+) /.exec(line)?.[1] ?? []).filter(isOurs)
  const jumps = lines.filter((line) => {
    const [, from = '', to = ''] = /^-A (\S+) .*?-[jg] (\S+)/.exec(line) ?? []
    return !isOurs(from) && isOurs(to)
  })
  if (table === undefined || chains.length === 0) return { text: '', names: [] }
  const changes = [
    ...jumps.map((line) => line.replace(/^-A/, '-D')),
    // Flush all chains before deleting any, because a chain cannot be deleted while another chain refers to
    // it.
    ...chains.map((name) => `-F ${name}`),
    ...chains.map((name) => `-X ${name}`),
  ]
  return {
    text: `${[table, ...changes, 'COMMIT'].join('\n')}\n`,
    names: chains.map((name) => `${table.slice(1)} ${name}`),
  }
}
