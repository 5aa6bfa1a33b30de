import { run } from '../../src/kit/command.ts'

/** Cuts packets inside a host's own namespace, so that nothing of it is left when the host goes. */
const table = 'lab_partition'

/**
 * Loses all that arrives at a host from these addresses, and hears everybody else; what the host sends still
 * reaches them. Cut where packets arrive, because a sender whose own kernel refuses would be told, and a broken
 * network tells nobody.
 */
export async function ignoreArrivals(mark: string, addresses: readonly string[]): Promise<void> {
  const cut = `table ip ${table} {
    set unheard { type ipv4_addr; elements = { ${addresses.join(', ')} }; }
    chain arrivals { type filter hook prerouting priority -300; ip saddr @unheard drop; }
  }`
  // Declared first, so that there is always something to delete.
  const rules = [`table ip ${table} {}`, `delete table ip ${table}`, ...(addresses.length === 0 ? [] : [cut])]
  await run(['ip', 'netns', 'exec', mark, 'nft', '-f', '-'], { input: rules.join('\n') })
}
