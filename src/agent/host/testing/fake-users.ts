import type { UserIds, Users } from '../users.ts'

/** Users that exist for a test alone. Only root can give files to others, so for anybody else all are the same. */
export function memoryUsers(names: readonly string[] = []): Users & { readonly names: ReadonlySet<string> } {
  const own: UserIds = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const known = new Map<string, UserIds>([['root', own]])
  let next = 61_000
  const add = (name: string): void => {
    const id = next++
    known.set(name, own.uid === 0 ? { uid: id, gid: id } : own)
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
