import { once } from 'node:events'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import type { Channel } from '../transport.ts'
import { waitUnlessAborted } from '../deadline.ts'
import {
  type PacketFields,
  openFlags,
  encodePacket,
  createPacketReader,
  sftpReplies,
  sftpRequests,
  statusCodes,
} from './packet.ts'

/** Size in bytes of a write request. Every server accepts this size. */
const chunkSize = 32 << 10
/** Maximum number of writes in flight. It is enough for high latency and limits memory use. */
const maxWritesInFlight = 64
/** Limits of a directory tree. The directories of hyperkube are far smaller. */
const [maxTreeDepth, maxDirectoryEntries] = [64, 100_000]

/** An error status that the server returned. */
export class SftpStatusError extends Error {
  readonly status: number

  constructor(status: number, words: string) {
    super(toPrintable(words))
    this.status = status
  }
}

interface PendingRequest {
  readonly resolve: (fields: PacketFields) => void
  readonly reject: (error: unknown) => void
}

/** SFTP client. sshd provides an sftp server also on Windows, and this server does not depend on a shell. */
export class SftpClient {
  readonly #host: string
  readonly #channel: Channel
  readonly #pending = new Map<number, PendingRequest>()
  #lastId = 0
  #closeReason: unknown

  private constructor(host: string, channel: Channel) {
    this.#host = host
    this.#channel = channel
  }

  static async open(host: string, channel: Channel, signal: AbortSignal): Promise<SftpClient> {
    const sftp = new SftpClient(host, channel)
    const versionReply = sftp.#expect(0)
    versionReply.catch(() => undefined)
    const read = createPacketReader((fields) => sftp.#receive(fields))
    channel.stdout.on('data', (chunk: Buffer) => {
      try {
        read(chunk)
      } catch (error) {
        sftp.#end(error)
        // The channel is killed, because further data would only fill the memory.
        channel.kill(error)
      }
    })
    channel.stdin.on('error', () => undefined)
    channel.stderr.resume()
    channel.ended.then(
      () => sftp.#end(new HyperkubeError('SSH_LOST', 'the sftp server has ended', { host })),
      (error: unknown) => sftp.#end(error),
    )
    channel.stdin.write(encodePacket(sftpRequests.init, 3))
    try {
      await waitUnlessAborted<PacketFields>([signal], ({ succeed, fail }) => {
        versionReply.then(succeed, fail)
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

  /** Returns the size of a file in bytes; undefined if the path does not exist. */
  async size(path: string): Promise<number | undefined> {
    try {
      const fields = await this.#request(sftpReplies.attributes, sftpRequests.stat, path)
      const flags = fields.number()
      return (flags & 1) === 0 ? 0 : Number(fields.bigNumber())
    } catch (error) {
      if (error instanceof SftpStatusError && error.status === statusCodes.noSuchFile) return undefined
      throw error
    }
  }

  /** Returns the absolute path; `.` is the login directory. */
  async realpath(path: string): Promise<string> {
    const fields = await this.#request(sftpReplies.name, sftpRequests.realpath, path)
    if (fields.number() < 1) throw new SftpStatusError(0, `${path} does not resolve`)
    return fields.text()
  }

  /** Creates a directory. If it already exists, nothing happens. */
  async mkdir(path: string): Promise<void> {
    if ((await this.size(path)) !== undefined) return
    await this.#request(sftpReplies.status, sftpRequests.mkdir, path, 0)
  }

  async remove(path: string): Promise<void> {
    await this.#request(sftpReplies.status, sftpRequests.remove, path)
  }

  /** Removes a directory recursively. If it does not exist, nothing happens. Fails if a file is in use. */
  async removeTree(path: string, depth = 0): Promise<void> {
    if (depth > maxTreeDepth) throw this.#protocolError()
    if ((await this.size(path)) === undefined) return
    for (const { name, isDirectory } of await this.#list(path)) {
      const below = `${path}/${name}`
      await (isDirectory ? this.removeTree(below, depth + 1) : this.remove(below))
    }
    await this.removeDirectory(path)
  }

  /** Removes an empty directory. */
  async removeDirectory(path: string): Promise<void> {
    await this.#request(sftpReplies.status, sftpRequests.rmdir, path)
  }

  async #list(path: string): Promise<readonly { readonly name: string; readonly isDirectory: boolean }[]> {
    const handle = (await this.#request(sftpReplies.handle, sftpRequests.openDirectory, path)).bytes()
    const found: { name: string; isDirectory: boolean }[] = []
    try {
      for (;;) {
        const fields = await this.#request(sftpReplies.name, sftpRequests.readDirectory, handle)
        for (let left = fields.number(); left > 0; left--) {
          const [name, long] = [fields.text(), fields.text()]
          fields.skipAttributes()
          // The long name has the format of `ls -l`, in which directories begin with `d`.
          if (found.length >= maxDirectoryEntries) throw this.#protocolError()
          if (name !== '.' && name !== '..') found.push({ name, isDirectory: long.startsWith('d') })
        }
      }
    } catch (error) {
      if (error instanceof SftpStatusError && error.status === statusCodes.end) return found
      throw error
    } finally {
      await this.#close(handle)
    }
  }

  /** Renames a file and atomically replaces an existing target. */
  async rename(from: string, to: string): Promise<void> {
    await this.#request(sftpReplies.status, sftpRequests.extended, 'posix-rename@openssh.com', from, to)
  }

  /** Reads a small file. Returns undefined if it does not exist. */
  async read(path: string): Promise<string | undefined> {
    let handle
    try {
      handle = await this.#open(path, openFlags.read)
    } catch (error) {
      if (error instanceof SftpStatusError && error.status === statusCodes.noSuchFile) return undefined
      throw error
    }
    try {
      const fields = await this.#request(sftpReplies.data, sftpRequests.read, handle, 0n, chunkSize)
      return fields.text()
    } catch (error) {
      if (error instanceof SftpStatusError && error.status === statusCodes.end) return ''
      throw error
    } finally {
      await this.#close(handle)
    }
  }

  /** Creates a file or replaces its content. */
  async write(path: string, chunks: AsyncIterable<Buffer>): Promise<void> {
    const handle = await this.#open(path, openFlags.write | openFlags.create | openFlags.truncate)
    const inFlight = new Set<Promise<unknown>>()
    const { stdin } = this.#channel
    let offset = 0n
    try {
      for await (const bytes of chunks) {
        for (let at = 0; at < bytes.length; at += chunkSize) {
          const part = bytes.subarray(at, at + chunkSize)
          const written = this.#request(
            sftpReplies.status,
            sftpRequests.write,
            handle,
            offset,
            Buffer.from(part),
          )
          offset += BigInt(part.length)
          inFlight.add(written)
          written.then(
            () => inFlight.delete(written),
            () => undefined,
          )
          if (inFlight.size >= maxWritesInFlight) await Promise.race(inFlight)
          if (stdin.writableNeedDrain) await Promise.race([once(stdin, 'drain'), ...inFlight])
        }
      }
      await Promise.all(inFlight)
    } finally {
      await this.#close(handle)
    }
  }

  async #open(path: string, flags: number): Promise<Buffer> {
    return (await this.#request(sftpReplies.handle, sftpRequests.open, path, flags, 0)).bytes()
  }

  /**
   * Closes a handle. Errors are ignored, because writes report their own errors and a lost connection fails
   * every later call.
   */
  async #close(handle: Buffer): Promise<void> {
    await this.#request(sftpReplies.status, sftpRequests.close, handle).catch(() => undefined)
  }

  async #request(
    expected: number,
    type: number,
    ...fields: Parameters<typeof encodePacket> extends [number, ...infer F] ? F : never
  ): Promise<PacketFields> {
    const id = ++this.#lastId
    const pendingReply = this.#expect(id)
    this.#channel.stdin.write(encodePacket(type, id, ...fields))
    const reply = await pendingReply
    if (reply.type === sftpReplies.status) {
      const status = reply.number()
      if (status !== statusCodes.ok || expected !== sftpReplies.status)
        throw new SftpStatusError(status, reply.text())
    } else if (reply.type !== expected) {
      throw this.#protocolError()
    }
    return reply
  }

  async #expect(id: number): Promise<PacketFields> {
    return new Promise((resolve, reject) => {
      if (this.#closeReason === undefined) this.#pending.set(id, { resolve, reject })
      else reject(this.#closeReason)
    })
  }

  #receive(fields: PacketFields): void {
    const id = fields.type === sftpReplies.version ? 0 : fields.number()
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (pending === undefined) throw this.#protocolError()
    pending.resolve(fields)
  }

  #end(error: unknown): void {
    this.#closeReason ??= error
    for (const { reject } of this.#pending.values()) reject(this.#closeReason)
    this.#pending.clear()
  }

  #protocolError(): HyperkubeError {
    return new HyperkubeError('SFTP_NOT_SPOKEN', 'the sftp server of the host does not speak sftp', {
      host: this.#host,
      hint: 'add this line to sshd_config on the host: Subsystem sftp sftp-server.exe',
    })
  }
}
