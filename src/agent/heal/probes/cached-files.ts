import type { FileFacts, HostFiles } from '../../host/files.ts'

/** Caches file contents. A file is read again only if its metadata has changed. */
export class CachedFiles {
  readonly #files: Pick<HostFiles, 'stat' | 'read'>
  readonly #known = new Map<string, { readonly stamp: string; readonly read: string }>()

  constructor(files: Pick<HostFiles, 'stat' | 'read'>) {
    this.#files = files
  }

  /** Returns undefined if the file does not exist. */
  async read(path: string): Promise<string | undefined> {
    const facts = await this.#files.stat(path)
    const stamp = facts === undefined ? undefined : formatStamp(facts)
    const known = this.#known.get(path)
    if (known !== undefined && known.stamp === stamp) return known.read
    this.#known.delete(path)
    const text = (await this.#files.read(path))?.toString('utf8')
    if (stamp !== undefined && text !== undefined) this.#known.set(path, { stamp, read: text })
    return text
  }

  /** Like `read`, but throws if the file does not exist. */
  async readRequired(path: string): Promise<string> {
    const text = await this.read(path)
    if (text === undefined) throw new Error(`there is no ${path}`)
    return text
  }
}

function formatStamp({ inode, modified, changed, size }: FileFacts): string {
  return `${inode} ${modified} ${changed} ${size}`
}
