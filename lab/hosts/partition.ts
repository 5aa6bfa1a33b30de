import { run } from '../../src/kit/command.ts'

/** Cuts packets inside a host's own namespace, so that nothing of it is left when the host goes. */
const table = 'lab_partition'

/** Drops all that leaves the host for these addresses; what comes from them still arrives. */
export async function muteTowards(mark: string, addresses: readonly string[]): Promise<void> {
  await nft(
    mark,
    `table ip ${table} {
      set muted { type ipv4_addr; }
      chain output { type filter hook output priority -300; ip daddr @muted drop; }
      chain forward { type filter hook forward priority -300; ip daddr @muted drop; }
    }
    add element ip ${table} muted { ${addresses.join(', ')} }`,
  )
}

/** Takes every cut of this host back. */
export async function unmute(mark: string): Promise<void> {
  // Declared first, so that there is always something to delete.
  await nft(mark, `table ip ${table} {}\ndelete table ip ${table}`)
}

export async function isMuted(mark: string): Promise<boolean> {
  const { stdout } = await run(['ip', 'netns', 'exec', mark, 'nft', 'list', 'tables'], { allowFailure: true })
  return stdout.includes(table)
}

async function nft(mark: string, rules: string): Promise<void> {
  await run(['ip', 'netns', 'exec', mark, 'nft', '-f', '-'], { input: rules })
}
