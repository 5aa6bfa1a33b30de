import { z } from 'zod'
import { hasCode } from '../../kit/errors.ts'
import type { RunCommand } from './command.ts'
import type { Packets, PacketTable } from './packets.ts'

const listing = z.object({
  nftables: z.array(
    z.looseObject({
      table: z.object({ family: z.string(), name: z.string() }).optional(),
      chain: z.object({ hook: z.string().optional(), policy: z.string().optional() }).optional(),
    }),
  ),
})

export function createLinuxPackets(command: RunCommand): Packets {
  /**
   * Runs a program; returns an empty text if it is not installed. Nothing can then have been created with it.
   */
  const runIfPresent = async (argv: readonly [string, ...string[]]): Promise<string> =>
    command(argv).then(
      ({ stdout }) => stdout,
      (error: unknown) => {
        if (hasCode(error, 'COMMAND_NOT_RUN')) return ''
        throw error
      },
    )
  const nft = async (...args: readonly string[]) =>
    listing.parse(JSON.parse((await runIfPresent(['nft', '-j', ...args])) || '{"nftables":[]}')).nftables
  const iptables = (version: 4 | 6): string => (version === 4 ? 'iptables' : 'ip6tables')
  return {
    async links() {
      const text = await runIfPresent(['ip', '-o', 'link', 'show'])
      return text.split('\n').flatMap((line) => /^\d+: ([^:@]+)[:@]/.exec(line)?.[1] ?? [])
    },
    async removeLink(name) {
      // Exit code 1: the link does not exist any more.
      await command(['ip', 'link', 'delete', name], { codes: [0, 1] })
    },
    tables: async () =>
      (await nft('list', 'tables')).flatMap(({ table }): PacketTable[] => (table ? [table] : [])),
    async removeTable({ family, name }) {
      await command(['nft', 'delete', 'table', family, name])
    },
    async isEmpty({ family, name }) {
      const parts = await nft('list', 'table', family, name)
      return parts.every(
        ({ chain, ...part }) => isHeading(part) || (chain?.hook !== undefined && chain.policy === 'accept'),
      )
    },
    rules: async (version) => runIfPresent([`${iptables(version)}-save`]),
    async changeRules(version, text) {
      await command([`${iptables(version)}-restore`, '--noflush', '--wait=5'], { input: text })
    },
  }
}

function isHeading(part: Readonly<Record<string, unknown>>): boolean {
  return 'metainfo' in part || 'table' in part
}
