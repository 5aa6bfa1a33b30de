import { createHash } from 'node:crypto'
import { posix, win32 } from 'node:path'
import type { Readable } from 'node:stream'
import { setupDirectory, unfinishedUploadSuffix } from '../../contract/host-paths.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { UploadedProgram, UploadOptions, UploadSource } from '../remote.ts'
import { buildSourceChangedError, openUploadSource } from '../upload.ts'
import { callHost, type HostCallTarget } from './call-host.ts'
import { toSftpPath } from './command-line.ts'
import { type SftpClient, SftpStatusError } from './sftp.ts'

export interface SftpAccess {
  readonly host: string
  readonly withSftp: <T>(signal: AbortSignal, use: (sftp: SftpClient) => Promise<T>) => Promise<T>
}

/**
 * Timeout in milliseconds for the removal of the temporary file. The removal needs its own timeout, because
 * it also runs after an abort.
 */
const cleanupTimeoutMs = 10_000

/**
 * Uploads to a temporary file in the target's directory. The hyperkube program on the host then verifies and
 * renames it. After a lost connection the temporary file remains, and the next upload to this target
 * overwrites it.
 */
export async function uploadToWindows(
  access: SftpAccess & { readonly callee: (signal: AbortSignal) => Promise<HostCallTarget> },
  source: UploadSource,
  target: string,
  options: UploadOptions,
): Promise<void> {
  const { signal } = options
  const temporary = win32.join(win32.dirname(target), `.${win32.basename(target)}${unfinishedUploadSuffix}`)
  const callee = await access.callee(signal)
  const sftpTarget = toSftpPath(temporary)
  const { sha256, size } = await send(access, source, { sftpTarget, target, options })
  try {
    await callHost(callee, { type: 'take', temporary, target, size, sha256 }, 'done', signal)
  } catch (error) {
    await removeTemporary(access, sftpTarget)
    throw error
  }
}

/** Uploads the hyperkube program itself. The program verifies itself when it first runs. */
export async function uploadProgram(
  access: SftpAccess,
  source: UploadSource,
  name: string,
  options: UploadOptions,
): Promise<UploadedProgram> {
  const { signal } = options
  const directory = await access.withSftp(signal, async (sftp) => {
    const path = posix.join(await sftp.realpath('.'), setupDirectory)
    await sftp.mkdir(path)
    return path
  })
  const target = `${directory}/${name}`
  const sftpTarget = `${target}${unfinishedUploadSuffix}`
  await send(access, source, { sftpTarget, target, options })
  await access.withSftp(signal, async (sftp) =>
    withUploadError(access.host, target, async () => sftp.rename(sftpTarget, target)),
  )
  return {
    program: `.\\${setupDirectory}\\${name}`,
    remove: async (until) =>
      access.withSftp(until, async (sftp) => {
        await sftp.remove(target).catch(() => undefined)
        // The removal fails if the directory is not empty, and the directory then stays.
        await sftp.removeDirectory(directory).catch(() => undefined)
      }),
  }
}

interface SftpUploadJob {
  /** Path of the temporary file, in sftp format. */
  readonly sftpTarget: string
  /** Final path of the file, for messages. */
  readonly target: string
  readonly options: UploadOptions
}

/**
 * Sends the whole file and returns its size and expected digest. If sending fails, removes the temporary
 * file.
 */
async function send(
  access: SftpAccess,
  source: UploadSource,
  { sftpTarget, target, options }: SftpUploadJob,
): Promise<{ readonly sha256: string; readonly size: number }> {
  const { stream, size } = await openUploadSource(source, access.host)
  const { signal } = options
  const abort = (): unknown =>
    stream.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
  signal.addEventListener('abort', abort, { once: true })
  // An error event without a listener would crash the process.
  stream.on('error', () => undefined)
  try {
    const counting = countChunks(stream, size, { host: access.host, options })
    await access.withSftp(signal, async (sftp) =>
      withUploadError(access.host, target, async () => sftp.write(sftpTarget, counting.pieces)),
    )
    signal.throwIfAborted()
    return { sha256: options.sha256?.toLowerCase() ?? counting.digest(), size }
  } catch (error) {
    await removeTemporary(access, sftpTarget)
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
    stream.destroy()
  }
}

function countChunks(
  stream: Readable,
  size: number,
  { host, options }: { readonly host: string; readonly options: UploadOptions },
): { readonly pieces: AsyncIterable<Buffer>; readonly digest: () => string } {
  const hash = createHash('sha256')
  const chunks = async function* (): AsyncGenerator<Buffer> {
    let sent = 0
    for await (const chunk of stream) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- streams that are sent are of bytes
      const bytes = chunk as Buffer
      // The digest is computed only if the caller does not know it.
      if (options.sha256 === undefined) hash.update(bytes)
      sent += bytes.length
      if (sent > size) throw buildSourceChangedError(host, size)
      yield bytes
      options.onProgress?.(sent, size)
    }
    if (sent !== size) throw buildSourceChangedError(host, size)
  }
  return { pieces: chunks(), digest: () => hash.digest('hex') }
}

async function removeTemporary({ withSftp }: SftpAccess, path: string): Promise<void> {
  await withSftp(AbortSignal.timeout(cleanupTimeoutMs), async (sftp) => sftp.remove(path)).catch(
    () => undefined,
  )
}

async function withUploadError<T>(host: string, target: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof SftpStatusError)) throw error
    const drive = sftpDrive(target)
    throw new HyperkubeError('UPLOAD_FAILED', `cannot write ${target}: ${error.message}`, {
      host,
      // The hint lists both possible causes, because the sftp server of Windows uses one message for all
      // errors.
      hint: `on the host: dir ${win32.dirname(target)}; fsutil volume diskfree ${drive}`,
    })
  }
}

function sftpDrive(path: string): string {
  return /^\/?([A-Za-z]:)/.exec(path)?.[1] ?? 'C:'
}
