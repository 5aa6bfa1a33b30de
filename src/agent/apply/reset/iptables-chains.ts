import type { LinuxHost } from '../../host/host.ts'
import type { LinuxLeftoverStep } from './leftover-step.ts'

/** Tables that iptables creates in nftables, even if it only lists rules. */
const iptablesTables = new Set(['filter', 'nat', 'mangle', 'raw', 'security'])

/** Removes iptables chains and the rules that jump to them. */
export const removeChains: LinuxLeftoverStep = async ({ packets }, { chains }) => {
  if (chains.length === 0) return []
  const removed: string[] = []
  for (const version of [4, 6] as const) {
    const { text, names } = buildChainRemoval(await packets.rules(version), chains)
    if (names.length > 0) await packets.changeRules(version, text)
    removed.push(...names)
  }
  await removeEmptyTables({ packets })
  return removed
}

/** Removes empty tables of iptables. An empty table has no effect, whichever program created it. */
async function removeEmptyTables({ packets }: Pick<LinuxHost, 'packets'>): Promise<void> {
  for (const table of await packets.tables()) {
    const isIptablesTable = iptablesTables.has(table.name) && ['ip', 'ip6'].includes(table.family)
    if (isIptablesTable && (await packets.isEmpty(table))) await packets.removeTable(table)
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
    // Flush all chains before deleting any: they refer to each other.
    ...chains.map((name) => `-F ${name}`),
    ...chains.map((name) => `-X ${name}`),
  ]
  return {
    text: `${[table, ...changes, 'COMMIT'].join('\n')}\n`,
    names: chains.map((name) => `${table.slice(1)} ${name}`),
  }
}
