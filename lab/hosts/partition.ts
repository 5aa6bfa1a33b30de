import { run } from '../../src/kit/command.ts'

/** Cuts packets inside a host's own namespace, so that nothing of it is left when the host goes. */
const table = 'lab_partition'

/**
 * Loses all that arrives at the host from these addresses; what it sends still reaches them. Cut where packets
 * arrive, because a sender whose own kernel refuses would be told, and a broken network tells nobody.
 */
export async function deafen(mark: string, addresses: readonly string[]): Promise<void> {
  await nft(
    mark,
    `table ip ${table} {
      set unheard { type ipv4_addr; }
      chain arrivals { type filter hook prerouting priority -300; ip saddr @unheard drop; }
    }
    add element ip ${table} unheard { ${addresses.join(', ')} }`,
  )
}

/** Takes every cut of this host back. */
export async function restoreHearing(mark: string): Promise<void> {
  // Declared first, so that there is always something to delete.
  await nft(mark, `table ip ${table} {}\ndelete table ip ${table}`)
}

export async function isDeaf(mark: string): Promise<boolean> {
  const { stdout } = await run(['ip', 'netns', 'exec', mark, 'nft', 'list', 'tables'], { allowFailure: true })
  return stdout.includes(table)
}

async function nft(mark: string, rules: string): Promise<void> {
  await run(['ip', 'netns', 'exec', mark, 'nft', '-f', '-'], { input: rules })
}
