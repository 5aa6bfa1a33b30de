import { inheritedSddl, type SimulatedFile, type SimulatedFiles } from './simulated-files.ts'

/** Stores files in memory. Windows paths are case-insensitive. */
export function inMemoryFiles(): SimulatedFiles {
  const files = new Map<string, SimulatedFile & { path: string }>()
  let last = 0
  return {
    at: (path) => files.get(path.toLowerCase()),
    put(path, content, modified) {
      const file = {
        id: String(++last),
        path,
        directory: false,
        content: Buffer.from(content),
        modified,
        access: inheritedSddl.open,
        heldUntil: 0,
      }
      files.set(path.toLowerCase(), file)
      return file
    },
    move(file, to) {
      const own = files.get(file.path.toLowerCase())
      if (own === undefined) return
      files.delete(own.path.toLowerCase())
      own.path = to
      files.set(to.toLowerCase(), own)
    },
    remove: ({ path }) => void files.delete(path.toLowerCase()),
    all: () => [...files.values()],
  }
}
