import { runProgram } from '../../src/kit/command.ts'
import { toIpv6Address } from './names.ts'

/** nft table in the host's own network namespace. It disappears with the namespace. */
const tableName = 'lab_partition'

/**
 * Drops all packets that arrive at a host from these addresses and their IPv6 addresses. Packets in the other direction are not
 * dropped. The receiver drops the packets, because the kernel of a sender would report an error, unlike a
 * broken network.
 */
export async function dropPacketsFrom(hostId: string, addresses: readonly string[]): Promise<void> {
  const dropRules = `table inet ${tableName} {
    set dropped { type ipv4_addr; elements = { ${addresses.join(', ')} }; }
    set dropped6 { type ipv6_addr; elements = { ${addresses.map(toIpv6Address).join(', ')} }; }
    chain arrivals {
      type filter hook prerouting priority -300;
      ip saddr @dropped drop;
      ip6 saddr @dropped6 drop;
    }
  }`
  // The table is declared first, because deleting a missing table would fail.
  const rules = [
    `table inet ${tableName} {}`,
    `delete table inet ${tableName}`,
    ...(addresses.length === 0 ? [] : [dropRules]),
  ]
  await runProgram(['ip', 'netns', 'exec', hostId, 'nft', '-f', '-'], { input: rules.join('\n') })
}
