import { runProgram } from '../../src/kit/command.ts'

/** nft table in the host's own network namespace. It disappears with the namespace. */
const tableName = 'lab_partition'

/**
 * Drops all packets that arrive at a host from these addresses. Packets in the other direction are not
 * dropped. The receiver drops the packets, because the kernel of a sender would report an error, unlike a
 * broken network.
 */
export async function dropPacketsFrom(hostId: string, addresses: readonly string[]): Promise<void> {
  const dropRules = `table ip ${tableName} {
    set dropped { type ipv4_addr; elements = { ${addresses.join(', ')} }; }
    chain arrivals { type filter hook prerouting priority -300; ip saddr @dropped drop; }
  }`
  // The table is declared first, because deleting a missing table would fail.
  const rules = [
    `table ip ${tableName} {}`,
    `delete table ip ${tableName}`,
    ...(addresses.length === 0 ? [] : [dropRules]),
  ]
  await runProgram(['ip', 'netns', 'exec', hostId, 'nft', '-f', '-'], { input: rules.join('\n') })
}
