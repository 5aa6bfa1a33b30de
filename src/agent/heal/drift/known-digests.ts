import type { FileFacts, HostFiles } from '../../host/files.ts'
import type { Host } from '../../host/host.ts'

interface CachedDigest {
  readonly facts: FileFacts
  readonly digest: string
}

/**
 * Returns the host with cached file digests, for callers that check often. A file is read again only if its
 * metadata has changed.
 */
export function withKnownDigests(host: Host): Host {
  return { ...host, files: knownDigests(host.files) }
}

export function knownDigests(files: HostFiles): HostFiles {
  const cache = new Map<string, CachedDigest>()
  return {
    ...files,
    async digest(path) {
      const facts = await files.stat(path)
      const before = cache.get(path)
      if (facts !== undefined && before !== undefined && isSame(facts, before.facts)) return before.digest
      cache.delete(path)
      const digest = await files.digest(path)
      // The metadata was read before the content, so the next call notices a write during the read.
      if (facts !== undefined) cache.set(path, { facts, digest })
      return digest
    },
  }
}

function isSame(a: FileFacts, b: FileFacts): boolean {
  return a.inode === b.inode && a.size === b.size && a.modified === b.modified && a.changed === b.changed
}
