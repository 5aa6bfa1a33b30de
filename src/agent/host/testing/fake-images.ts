import type { Images } from '../images.ts'

/** A runtime for tests. */
export interface MemoryImages extends Images {
  /** Digests by name; none while it does not run. */
  there: Map<string, string> | undefined
  readonly kept: Set<string>
  /** What can be pulled: digests by name. */
  readonly registry: Map<string, string>
  /** What archives hold: digests by name, by the path of the archive. */
  readonly archives: Map<string, ReadonlyMap<string, string>>
  readonly calls: string[]
}

export function memoryImages(): MemoryImages {
  const all = (): Map<string, string> => {
    if (images.there === undefined) throw new Error('the runtime does not run')
    return images.there
  }
  const images: MemoryImages = {
    there: undefined,
    kept: new Set(),
    registry: new Map(),
    archives: new Map(),
    calls: [],
    find: async (_ctr, names) =>
      images.there && new Map([...images.there].filter(([name]) => names.includes(name))),
    async pull(crictl, name) {
      images.calls.push(`${crictl} pull ${name}`)
      const digest = images.registry.get(name)
      if (digest === undefined) throw new Error(`${name}: not found`)
      all().set(name, digest)
    },
    async load(ctr, archive) {
      images.calls.push(`${ctr} load ${archive}`)
      for (const [name, digest] of images.archives.get(archive) ?? []) {
        all().set(name, digest)
        images.kept.add(name)
      }
    },
    async rename(_ctr, name, other) {
      all().set(other, all().get(name) ?? '')
      if (images.kept.has(name)) images.kept.add(other)
    },
    keep: async (_ctr, name) => void images.kept.add(name),
    release: async (_ctr, name) => void images.kept.delete(name),
  }
  return images
}
