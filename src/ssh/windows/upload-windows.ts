import { createHash } from 'node:crypto'
import { posix, win32 } from 'node:path'
import type { Readable } from 'node:stream'
import { setupDirectory, unfinishedUpload } from '../../contract/windows-paths.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Brought, UploadOptions, UploadSource } from '../remote.ts'
import { opened } from '../upload.ts'
import { sourceChanged } from '../upload-errors.ts'
import { type Callee, callHost } from './call-host.ts'
import { sftpPath } from './command-line.ts'
import { type Sftp, SftpRefusal } from './sftp.ts'

export interface Way {
  readonly host: string
  readonly withSftp: <T>(signal: AbortSignal, use: (sftp: Sftp) => Promise<T>) => Promise<T>
}

/** To take away what was left: it must be done also when whoever wanted it has had enough. */
const tidyTime = 10_000

/**
 * Writes a file beside its place, and has our own program on the host look whether it is what it should be: only that
 * gives it its name. A connection that is lost leaves an unfinished one behind, which the next one for the same place
 * writes over.
 */
export async function uploadTo(
  way: Way & { readonly callee: (signal: AbortSignal) => Promise<Callee> },
  source: UploadSource,
  target: string,
  options: UploadOptions,
): Promise<void> {
  const { signal } = options
  const temporary = win32.join(win32.dirname(target), `.${win32.basename(target)}${unfinishedUpload}`)
  const callee = await way.callee(signal)
  const at = sftpPath(temporary)
  const { sha256, size } = await send(way, source, { at, target, options })
  try {
    await callHost(callee, { type: 'take', temporary, target, size, sha256 }, 'done', signal)
  } catch (error) {
    await tidy(way, at)
    throw error
  }
}

/** The program that all the rest needs: it looks at itself when it is first run. */
export async function bring(
  way: Way,
  source: UploadSource,
  name: string,
  options: UploadOptions,
): Promise<Brought> {
  const { signal } = options
  const directory = await way.withSftp(signal, async (sftp) => {
    const path = posix.join(await sftp.realpath('.'), setupDirectory)
    await sftp.mkdir(path)
    return path
  })
  const target = `${directory}/${name}`
  const at = `${target}${unfinishedUpload}`
  await send(way, source, { at, target, options })
  await way.withSftp(signal, async (sftp) => refused(way.host, target, async () => sftp.rename(at, target)))
  return {
    program: `.\\${setupDirectory}\\${name}`,
    remove: async (until) =>
      way.withSftp(until, async (sftp) => {
        await sftp.remove(target).catch(() => undefined)
        // With the last file of it.
        await sftp.removeDirectory(directory).catch(() => undefined)
      }),
  }
}

interface Load {
  /** Where sftp writes it. */
  readonly at: string
  /** What it shall be called, for people. */
  readonly target: string
  readonly options: UploadOptions
}

/** Sends all of it; answers with its size, and with the digest that it must have there. Leaves nothing when it fails. */
async function send(
  way: Way,
  source: UploadSource,
  { at, target, options }: Load,
): Promise<{ readonly sha256: string; readonly size: number }> {
  const { stream, size } = await opened(source, way.host)
  const { signal } = options
  const abort = (): unknown =>
    stream.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
  signal.addEventListener('abort', abort, { once: true })
  // Who does not listen to a stream is ended by its error.
  stream.on('error', () => undefined)
  try {
    const counted = count(stream, size, { host: way.host, options })
    await way.withSftp(signal, async (sftp) =>
      refused(way.host, target, async () => sftp.write(at, counted.pieces)),
    )
    signal.throwIfAborted()
    return { sha256: options.sha256?.toLowerCase() ?? counted.digest(), size }
  } catch (error) {
    await tidy(way, at)
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
    stream.destroy()
  }
}

function count(
  stream: Readable,
  size: number,
  { host, options }: { readonly host: string; readonly options: UploadOptions },
): { readonly pieces: AsyncIterable<Buffer>; readonly digest: () => string } {
  const hash = createHash('sha256')
  const pieces = async function* (): AsyncGenerator<Buffer> {
    let sent = 0
    for await (const chunk of stream) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- streams that are sent are of bytes
      const piece = chunk as Buffer
      // Where it is known there is no need to compute it for each host anew.
      if (options.sha256 === undefined) hash.update(piece)
      sent += piece.length
      if (sent > size) throw sourceChanged(host, size)
      yield piece
      options.onProgress?.(sent, size)
    }
    if (sent !== size) throw sourceChanged(host, size)
  }
  return { pieces: pieces(), digest: () => hash.digest('hex') }
}

async function tidy({ withSftp }: Way, path: string): Promise<void> {
  await withSftp(AbortSignal.timeout(tidyTime), async (sftp) => sftp.remove(path)).catch(() => undefined)
}

async function refused<T>(host: string, target: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof SftpRefusal)) throw error
    const drive = sftpDrive(target)
    throw new HyperkubeError('UPLOAD_FAILED', `${target} could not be written: ${error.message}`, {
      host,
      // Its sftp server has one word for all that can be wrong.
      hint: `on the host: dir ${win32.dirname(target)}, and fsutil volume diskfree ${drive}`,
    })
  }
}

function sftpDrive(path: string): string {
  return /^\/?([A-Za-z]:)/.exec(path)?.[1] ?? 'C:'
}
