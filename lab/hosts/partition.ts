import { runProgram } from '../../src/kit/command.ts'

/** Lives in the host's own network namespace, so it disappears with the host. */
const tableName = 'lab_partition'

/**
 * Drops all packets that arrive at a host from these addresses; packets that the host sends still arrive.
 * Dropped at the receiver, because the kernel of a sender would report an error, and a broken network reports
 * nothing.
 */
export async function dropPacketsFrom(hostId: string, addresses: readonly string[]): Promise<void> {
  const dropRules = `table ip ${tableName} {
    set dropped { type ipv4_addr; elements = { ${addresses.join(', ')} }; }
    chain arrivals { type filter hook prerouting priority -300; ip saddr @dropped drop; }
  }`
  // Declared first, so that the delete never fails.
  const rules = [
    `table ip ${tableName} {}`,
    `delete table ip ${tableName}`,
    ...(addresses.length === 0 ? [] : [dropRules]),
  ]
  await runProgram(['ip', 'netns', 'exec', hostId, 'nft', '-f', '-'], { input: rules.join('\n') })
}
