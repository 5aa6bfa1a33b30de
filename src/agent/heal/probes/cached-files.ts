import type { FileFacts, Files } from '../../host/files.ts'

/** Texts that are read again only when they have changed: to look at a file costs next to nothing. */
export class FreshFiles {
  readonly #files: Pick<Files, 'stat' | 'read'>
  readonly #known = new Map<string, { readonly stamp: string; readonly text: string }>()

  constructor(files: Pick<Files, 'stat' | 'read'>) {
    this.#files = files
  }

  /** Nothing when there is no file. */
  async text(path: string): Promise<string | undefined> {
    const facts = await this.#files.stat(path)
    const stamp = facts === undefined ? undefined : stampOf(facts)
    const known = this.#known.get(path)
    if (known !== undefined && known.stamp === stamp) return known.text
    this.#known.delete(path)
    const text = (await this.#files.read(path))?.toString('utf8')
    if (stamp !== undefined && text !== undefined) this.#known.set(path, { stamp, text })
    return text
  }

  /** The same of one without which nothing can be asked. */
  async needed(path: string): Promise<string> {
    const text = await this.text(path)
    if (text === undefined) throw new Error(`there is no ${path}`)
    return text
  }
}

function stampOf({ inode, modified, changed, size }: FileFacts): string {
  return `${inode} ${modified} ${changed} ${size}`
}
