import { once } from 'node:events'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Channel } from '../transport.ts'
import { unlessAborted } from '../deadline.ts'
import { type Fields, openFlags, packet, packetReader, replies, requests, statusCodes } from './packet.ts'

/** What every server takes at once. */
const pieceSize = 32 << 10
/** Writes that are on their way: enough for a line with a long delay, and never much memory. */
const atOnce = 64

/** What the server said no to. */
export class SftpRefusal extends Error {
  readonly status: number

  constructor(status: number, words: string) {
    super(printable(words))
    this.status = status
  }
}

interface Waiting {
  readonly resolve: (fields: Fields) => void
  readonly reject: (error: unknown) => void
}

/** Files of a host by its sftp server, which every sshd has, also that of Windows, and which no shell stands before. */
export class Sftp {
  readonly #host: string
  readonly #channel: Channel
  readonly #waiting = new Map<number, Waiting>()
  #last = 0
  #gone: unknown

  private constructor(host: string, channel: Channel) {
    this.#host = host
    this.#channel = channel
  }

  static async open(host: string, channel: Channel, signal: AbortSignal): Promise<Sftp> {
    const sftp = new Sftp(host, channel)
    const greeting = sftp.#expect(0)
    greeting.catch(() => undefined)
    const read = packetReader((fields) => sftp.#heard(fields))
    channel.stdout.on('data', (chunk: Buffer) => {
      try {
        read(chunk)
      } catch (error) {
        sftp.#end(error)
      }
    })
    channel.stdin.on('error', () => undefined)
    channel.stderr.resume()
    channel.ended.then(
      () => sftp.#end(new HyperkubeError('SSH_LOST', 'its sftp server has ended', { host })),
      (error: unknown) => sftp.#end(error),
    )
    channel.stdin.write(packet(requests.init, 3))
    try {
      await unlessAborted<Fields>([signal], ({ succeed, fail }) => {
        greeting.then(succeed, fail)
      })
    } catch (error) {
      channel.kill(error)
      throw error
    }
    return sftp
  }

  close(): void {
    this.#channel.stdin.end()
    this.#channel.kill(new Error('sftp was closed'))
  }

  /** Undefined where there is nothing. */
  async size(path: string): Promise<number | undefined> {
    try {
      const fields = await this.#ask(replies.attributes, requests.stat, path)
      const flags = fields.number()
      return (flags & 1) === 0 ? 0 : Number(fields.bigNumber())
    } catch (error) {
      if (error instanceof SftpRefusal && error.status === statusCodes.noSuchFile) return undefined
      throw error
    }
  }

  /** The path from the root on; of `.` the directory that a login begins in. */
  async realpath(path: string): Promise<string> {
    const fields = await this.#ask(replies.name, requests.realpath, path)
    if (fields.number() < 1) throw new SftpRefusal(0, `${path} leads nowhere`)
    return fields.text()
  }

  /** One that is there already is no mistake. */
  async mkdir(path: string): Promise<void> {
    if ((await this.size(path)) !== undefined) return
    await this.#ask(replies.status, requests.mkdir, path, 0)
  }

  async remove(path: string): Promise<void> {
    await this.#ask(replies.status, requests.remove, path)
  }

  /** A directory with all that is in it; what is not there is no mistake. Fails where something of it is in use. */
  async removeTree(path: string): Promise<void> {
    if ((await this.size(path)) === undefined) return
    for (const { name, isDirectory } of await this.#list(path)) {
      const below = `${path}/${name}`
      await (isDirectory ? this.removeTree(below) : this.remove(below))
    }
    await this.removeDirectory(path)
  }

  /** One that is empty. */
  async removeDirectory(path: string): Promise<void> {
    await this.#ask(replies.status, requests.rmdir, path)
  }

  async #list(path: string): Promise<readonly { readonly name: string; readonly isDirectory: boolean }[]> {
    const handle = (await this.#ask(replies.handle, requests.openDirectory, path)).bytes()
    const found: { name: string; isDirectory: boolean }[] = []
    try {
      for (;;) {
        const fields = await this.#ask(replies.name, requests.readDirectory, handle)
        for (let left = fields.number(); left > 0; left--) {
          const [name, long] = [fields.text(), fields.text()]
          fields.skipAttributes()
          // As `ls -l` writes it, which every server does.
          if (name !== '.' && name !== '..') found.push({ name, isDirectory: long.startsWith('d') })
        }
      }
    } catch (error) {
      if (error instanceof SftpRefusal && error.status === statusCodes.end) return found
      throw error
    } finally {
      await this.#close(handle)
    }
  }

  /** In the place of what is there, at once. */
  async rename(from: string, to: string): Promise<void> {
    await this.#ask(replies.status, requests.extended, 'posix-rename@openssh.com', from, to)
  }

  /** A small file; undefined without one. */
  async read(path: string): Promise<string | undefined> {
    let handle
    try {
      handle = await this.#open(path, openFlags.read)
    } catch (error) {
      if (error instanceof SftpRefusal && error.status === statusCodes.noSuchFile) return undefined
      throw error
    }
    try {
      const fields = await this.#ask(replies.data, requests.read, handle, 0n, pieceSize)
      return fields.text()
    } catch (error) {
      if (error instanceof SftpRefusal && error.status === statusCodes.end) return ''
      throw error
    } finally {
      await this.#close(handle)
    }
  }

  /** Fills a file with what comes, in the place of all that it had. */
  async write(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
    const handle = await this.#open(path, openFlags.write | openFlags.create | openFlags.truncate)
    const flight = new Set<Promise<unknown>>()
    const { stdin } = this.#channel
    let offset = 0n
    try {
      for await (const bytes of pieces) {
        for (let at = 0; at < bytes.length; at += pieceSize) {
          const piece = bytes.subarray(at, at + pieceSize)
          const written = this.#ask(replies.status, requests.write, handle, offset, Buffer.from(piece))
          offset += BigInt(piece.length)
          flight.add(written)
          written.then(
            () => flight.delete(written),
            () => undefined,
          )
          if (flight.size >= atOnce) await Promise.race(flight)
          if (stdin.writableNeedDrain) await Promise.race([once(stdin, 'drain'), ...flight])
        }
      }
      await Promise.all(flight)
    } finally {
      await this.#close(handle)
    }
  }

  async #open(path: string, flags: number): Promise<Buffer> {
    return (await this.#ask(replies.handle, requests.open, path, flags, 0)).bytes()
  }

  /** What could not be written is told when it is written, and a connection that is gone to whoever uses it. */
  async #close(handle: Buffer): Promise<void> {
    await this.#ask(replies.status, requests.close, handle).catch(() => undefined)
  }

  async #ask(
    expected: number,
    type: number,
    ...fields: Parameters<typeof packet> extends [number, ...infer F] ? F : never
  ): Promise<Fields> {
    const id = ++this.#last
    const answer = this.#expect(id)
    this.#channel.stdin.write(packet(type, id, ...fields))
    const heard = await answer
    if (heard.type === replies.status) {
      const status = heard.number()
      if (status !== statusCodes.ok || expected !== replies.status)
        throw new SftpRefusal(status, heard.text())
    } else if (heard.type !== expected) {
      throw this.#nonsense()
    }
    return heard
  }

  async #expect(id: number): Promise<Fields> {
    return new Promise((resolve, reject) => {
      if (this.#gone === undefined) this.#waiting.set(id, { resolve, reject })
      else reject(this.#gone)
    })
  }

  #heard(fields: Fields): void {
    const id = fields.type === replies.version ? 0 : fields.number()
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (waiting === undefined) throw this.#nonsense()
    waiting.resolve(fields)
  }

  #end(error: unknown): void {
    this.#gone ??= error
    for (const { reject } of this.#waiting.values()) reject(this.#gone)
    this.#waiting.clear()
  }

  #nonsense(): HyperkubeError {
    return new HyperkubeError('SFTP_NOT_SPOKEN', 'what answers as its sftp server does not speak sftp', {
      host: this.#host,
      hint: 'a line in its sshd_config has to say: Subsystem sftp sftp-server.exe',
    })
  }
}
