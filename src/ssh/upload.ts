import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { Readable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { watchLines } from '../kit/lines.ts'
import { toPrintable } from '../kit/text.ts'
import type { RunningProgram, UploadOptions, UploadSource } from './remote.ts'

/**
 * Script that writes standard input to a temporary file in the target's directory and prints the digest. The
 * script renames the file only after the caller has confirmed the digest with `keep`. On any failure,
 * including a lost connection, the script removes the temporary file. openssl hashes four times as fast as
 * sha256sum, but not every host has openssl.
 */
const script = `set -eu
export LC_ALL=C
target=$1 temporary=$2 size=$3 mode=$4 format=$5
umask 077
if [ -d "$target" ]; then echo "$target is a directory" >&2; exit 1; fi
trap 'rm -f -- "$temporary"' EXIT
trap 'exit 1' HUP INT PIPE TERM
digest() { openssl dgst -sha256 -r 2>/dev/null; }
set -C
if [ "$format" = gzip ]; then head -c "$size" | gzip -dc > "$temporary"; else head -c "$size" > "$temporary"; fi
set +C
if [ "$format" = plain ] && [ "$(wc -c < "$temporary")" -ne "$size" ]; then echo 'only a part has arrived' >&2; exit 1; fi
chmod "$mode" "$temporary"
sync "$temporary"
echo "hyperkube digest: $(digest < "$temporary" || sha256sum < "$temporary")"
read -r answer
[ "$answer" = keep ]
mv -f -- "$temporary" "$target"
sync "$(dirname -- "$target")"
`

export type OpenUpload = (argv: Argv, options: UploadOptions) => Promise<RunningProgram>

export async function uploadFile(
  { host, open }: { readonly host: string; readonly open: OpenUpload },
  source: UploadSource,
  target: string,
  options: UploadOptions,
): Promise<void> {
  const { stream, size } = await openUploadSource(source, host)
  // An error event without a listener would crash the process.
  stream.on('error', () => undefined)
  try {
    const temporary = posix.join(
      posix.dirname(target),
      `.${posix.basename(target)}.${randomBytes(8).toString('hex')}`,
    )
    const format = options.isCompressed === true ? 'gzip' : 'plain'
    const args = [target, temporary, String(size), options.mode.toString(8), format]
    const program = await open(['sh', '-c', script, 'sh', ...args], options)
    await transferAndConfirm(program, { stream, size, target, host, options })
  } finally {
    stream.destroy()
  }
}

interface UploadJob {
  readonly stream: Readable
  readonly size: number
  readonly target: string
  readonly host: string
  readonly options: UploadOptions
}

async function transferAndConfirm(program: RunningProgram, job: UploadJob): Promise<void> {
  const { stdin, stdout, ended } = program
  const { host, target } = job
  stdin.on('error', () => undefined)
  const arrived = readDigest(stdout)
  try {
    const failed = ended.then(({ stderr }) => Promise.reject(buildUploadFailedError(host, target, stderr)))
    const expected = await Promise.race([send(job, program), failed])
    const actual = await Promise.race([arrived, failed])
    if (actual !== expected) throw buildDigestMismatchError(host, target, expected, actual)
  } catch (error) {
    // If the input ends without confirmation, the script removes the temporary file. Waiting until the script
    // ends makes sure that no file is left.
    stdin.end()
    await ended.catch(() => undefined)
    throw error
  }
  stdin.end('keep\n')
  const { code, stderr } = await ended
  if (code !== 0) throw buildUploadFailedError(host, target, stderr)
}

/** Sends the whole file and returns its expected digest. */
async function send({ stream, size, host, options }: UploadJob, { stdin }: RunningProgram): Promise<string> {
  // The digest is computed only if the caller does not know it.
  const hash = options.sha256 === undefined ? createHash('sha256') : undefined
  let sent = 0
  stream.on('data', (chunk: Buffer) => {
    hash?.update(chunk)
    sent += chunk.length
    // The stream is destroyed, because the remote script would read excess bytes as the confirmation
    // (`keep`).
    if (sent > size) stream.destroy(buildSourceChangedError(host, size))
    else options.onProgress?.(sent, size)
  })
  stream.pipe(stdin, { end: false })
  await once(stream, 'end')
  if (sent !== size) throw buildSourceChangedError(host, size)
  return options.sha256?.toLowerCase() ?? hash?.digest('hex') ?? ''
}

async function readDigest(stdout: Readable): Promise<string> {
  return new Promise((resolve) => {
    watchLines(stdout, (line) => {
      const [, digest] = /^hyperkube digest: ([0-9a-f]{64})\b/.exec(line) ?? []
      if (digest !== undefined) resolve(digest)
    })
  })
}

export async function openUploadSource(
  source: UploadSource,
  host: string,
): Promise<{ stream: Readable; size: number }> {
  if ('stream' in source) return source
  if ('bytes' in source) {
    return {
      stream: Readable.from([Buffer.from(source.bytes)], { objectMode: false }),
      size: source.bytes.length,
    }
  }
  const { path } = source
  const size = await stat(path).then(
    (found) => (found.isFile() ? found.size : undefined),
    () => undefined,
  )
  if (size === undefined) {
    throw new HyperkubeError('UPLOAD_SOURCE_NOT_READ', `cannot read the file ${path}`, {
      host,
      hint: `ls -l ${path}`,
    })
  }
  return { stream: createReadStream(path, { highWaterMark: 256 << 10 }), size }
}

/** Builds the error of a failed upload from the host's error message. */
function buildUploadFailedError(host: string, target: string, stderr: string): HyperkubeError {
  const directory = posix.dirname(target)
  const lastLine = toPrintable(stderr.trim().split('\n').at(-1) ?? '')
  if (/No space left on device|Disk quota exceeded/.test(stderr)) {
    return new HyperkubeError('UPLOAD_NO_ROOM', `no disk space left for ${target}`, {
      host,
      hint: `free disk space on the host: df -h ${directory}`,
    })
  }
  const why = lastLine === '' ? 'no error message' : lastLine
  return new HyperkubeError('UPLOAD_FAILED', `cannot write ${target}: ${why}`, {
    host,
    hint: `on the host: ls -ld ${directory}`,
  })
}

function buildDigestMismatchError(
  host: string,
  target: string,
  expected: string,
  found: string,
): HyperkubeError {
  const message = `${target} was not written: its SHA-256 should be ${expected}, but is ${found}`
  return new HyperkubeError('UPLOAD_NOT_WHOLE', message, {
    host,
    hint: 'the source file is wrong or damaged: fetch it again, then run the same command',
  })
}

export function buildSourceChangedError(host: string, size: number): HyperkubeError {
  const message = `the source file changed while it was read: it should have had ${size} bytes`
  return new HyperkubeError('UPLOAD_NOT_WHOLE', message, { host, hint: 'run the same command again' })
}
