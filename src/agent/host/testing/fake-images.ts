import type { Images } from '../host.ts'

/** For tests: a fake container runtime. */
export interface FakeImages extends Images {
  /** Digests of the present images, keyed by name; undefined while the runtime is stopped. */
  present: Map<string, string> | undefined
  readonly pinned: Set<string>
  /** Digests of images that can be pulled, keyed by name. */
  readonly registry: Map<string, string>
  /** Image archives, keyed by path. Each maps the names of its images to digests. */
  readonly archives: Map<string, ReadonlyMap<string, string>>
  readonly calls: string[]
}

export function createFakeImages(): FakeImages {
  const requirePresent = (): Map<string, string> => {
    if (images.present === undefined) throw new Error('the runtime does not run')
    return images.present
  }
  const images: FakeImages = {
    present: undefined,
    pinned: new Set(),
    registry: new Map(),
    archives: new Map(),
    calls: [],
    find: async (_ctr, names) =>
      images.present && new Map([...images.present].filter(([name]) => names.includes(name))),
    async pull(crictl, name) {
      images.calls.push(`${crictl} pull ${name}`)
      const digest = images.registry.get(name)
      if (digest === undefined) throw new Error(`${name}: not found`)
      requirePresent().set(name, digest)
    },
    async load(ctr, archive) {
      images.calls.push(`${ctr} load ${archive}`)
      for (const [name, digest] of images.archives.get(archive) ?? []) {
        requirePresent().set(name, digest)
        images.pinned.add(name)
      }
    },
    async rename(_ctr, name, other) {
      requirePresent().set(other, requirePresent().get(name) ?? '')
      if (images.pinned.has(name)) images.pinned.add(other)
    },
    pin: async (_ctr, name) => void images.pinned.add(name),
    unpin: async (_ctr, name) => void images.pinned.delete(name),
  }
  return images
}
