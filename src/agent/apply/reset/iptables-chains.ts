import type { LinuxHost } from '../../host/host.ts'
import type { Step } from './linux-leftover-step.ts'

/** Those that iptables makes in nftables as soon as somebody looks into them. */
const own = new Set(['filter', 'nat', 'mangle', 'raw', 'security'])

/** Chains of iptables, with the rules that lead to them. */
export const removeChains: Step = async ({ packets }, { chains }) => {
  if (chains.length === 0) return []
  const removed: string[] = []
  for (const version of [4, 6] as const) {
    const { text, names } = chainRemoval(await packets.rules(version), chains)
    if (names.length > 0) await packets.changeRules(version, text)
    removed.push(...names)
  }
  await removeEmptyTables({ packets })
  return removed
}

/** A table without a rule does nothing to any packet, whoever made it. */
async function removeEmptyTables({ packets }: Pick<LinuxHost, 'packets'>): Promise<void> {
  for (const table of await packets.tables()) {
    const isTheirs = own.has(table.name) && ['ip', 'ip6'].includes(table.family)
    if (isTheirs && (await packets.isEmpty(table))) await packets.removeTable(table)
  }
}

/** From what iptables-save says, what iptables-restore has to be told so that all chains of some beginnings are gone. */
export function chainRemoval(
  saved: string,
  beginnings: readonly string[],
): { readonly text: string; readonly names: readonly string[] } {
  const isOurs = (name: string): boolean => beginnings.some((beginning) => name.startsWith(beginning))
  const tables = saved.split(/^(?=\*)/m).map((table) => tableRemoval(table.split('\n'), isOurs))
  return { text: tables.map(({ text }) => text).join(''), names: tables.flatMap(({ names }) => names) }
}

function tableRemoval(lines: readonly string[], isOurs: (name: string) => boolean) {
  const table = lines.find((line) => line.startsWith('*'))
  const chains = lines.flatMap((line) => /^:(\S+) /.exec(line)?.[1] ?? []).filter(isOurs)
  const jumps = lines.filter((line) => {
    const [, from = '', to = ''] = /^-A (\S+) .*?-[jg] (\S+)/.exec(line) ?? []
    return !isOurs(from) && isOurs(to)
  })
  if (table === undefined || chains.length === 0) return { text: '', names: [] }
  const changes = [
    ...jumps.map((line) => line.replace(/^-A/, '-D')),
    // All are emptied before any goes: they lead to each other.
    ...chains.map((name) => `-F ${name}`),
    ...chains.map((name) => `-X ${name}`),
  ]
  return {
    text: `${[table, ...changes, 'COMMIT'].join('\n')}\n`,
    names: chains.map((name) => `${table.slice(1)} ${name}`),
  }
}
