import type { UserIds, Users } from '../host.ts'

/**
 * For tests: fake users. If the tests do not run as root, all users have the same ids, because only root can
 * change file owners.
 */
export function createFakeUsers(
  names: readonly string[] = [],
): Users & { readonly names: ReadonlySet<string> } {
  const currentIds: UserIds = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const known = new Map<string, UserIds>([['root', currentIds]])
  let next = 61_000
  const add = (name: string): void => {
    const id = next++
    known.set(name, currentIds.uid === 0 ? { uid: id, gid: id } : currentIds)
  }
  for (const name of names) add(name)
  return {
    get names() {
      return new Set(known.keys())
    },
    find: async (name) => known.get(name),
    create: async (name) => {
      if (known.has(name)) throw new Error(`there is a user ${name}`)
      add(name)
    },
    remove: async (name) => void known.delete(name),
  }
}
