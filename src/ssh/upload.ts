import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { once } from 'node:events'
import { posix } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Conversation, UploadOptions, UploadSource } from './remote.ts'
import { digestDiffers, sourceChanged, uploadFailed } from './upload-errors.ts'

/**
 * Takes a file in under another name beside its own, says what arrived, and only when it is told to gives it its name.
 * Whatever goes wrong before that, and if only the connection ends, it takes away what it wrote.
 */
const script = `set -eu
export LC_ALL=C
target=$1 temporary=$2 size=$3 mode=$4
umask 077
if [ -d "$target" ]; then echo "$target is a directory" >&2; exit 1; fi
trap 'rm -f -- "$temporary"' EXIT
trap 'exit 1' HUP INT PIPE TERM
set -C
head -c "$size" > "$temporary"
set +C
if [ "$(wc -c < "$temporary")" -ne "$size" ]; then echo 'only a part has arrived' >&2; exit 1; fi
chmod "$mode" "$temporary"
sync "$temporary"
echo "hyperkube digest: $(sha256sum < "$temporary")"
read -r answer
[ "$answer" = keep ]
mv -f -- "$temporary" "$target"
sync "$(dirname -- "$target")"
`

export type Open = (argv: Argv, options: UploadOptions) => Promise<Conversation>

export async function upload(
  { host, open }: { readonly host: string; readonly open: Open },
  source: UploadSource,
  target: string,
  options: UploadOptions,
): Promise<void> {
  const { stream, size } = await opened(source, host)
  // Who does not listen to a stream is ended by its error.
  stream.on('error', () => undefined)
  try {
    const temporary = posix.join(
      posix.dirname(target),
      `.${posix.basename(target)}.${randomBytes(8).toString('hex')}`,
    )
    const words = [target, temporary, String(size), options.mode.toString(8)]
    const conversation = await open(['sh', '-c', script, 'sh', ...words], options)
    await converse(conversation, { stream, size, target, host, options })
  } finally {
    stream.destroy()
  }
}

interface Load {
  readonly stream: Readable
  readonly size: number
  readonly target: string
  readonly host: string
  readonly options: UploadOptions
}

async function converse(conversation: Conversation, load: Load): Promise<void> {
  const { stdin, stdout, ended } = conversation
  const { host, target } = load
  stdin.on('error', () => undefined)
  const arrived = digestIn(stdout)
  try {
    const failed = ended.then(({ stderr }) => Promise.reject(uploadFailed(host, target, stderr)))
    const wanted = await Promise.race([send(load, conversation), failed])
    const there = await Promise.race([arrived, failed])
    if (there !== wanted) throw digestDiffers(host, target, wanted, there)
  } catch (error) {
    // Without an answer the other side takes away what it has; nothing is left once it has ended.
    stdin.end()
    await ended.catch(() => undefined)
    throw error
  }
  stdin.end('keep\n')
  const { code, stderr } = await ended
  if (code !== 0) throw uploadFailed(host, target, stderr)
}

/** Sends all of it, and answers with the digest that it must have there. */
async function send({ stream, size, host, options }: Load, { stdin }: Conversation): Promise<string> {
  // Where it is known there is no need to compute it for each host anew.
  const hash = options.sha256 === undefined ? createHash('sha256') : undefined
  let sent = 0
  stream.on('data', (chunk: Buffer) => {
    hash?.update(chunk)
    sent += chunk.length
    // More than was announced would be taken for an answer.
    if (sent > size) stream.destroy(sourceChanged(host, size))
    else options.onProgress?.(sent, size)
  })
  stream.pipe(stdin, { end: false })
  await once(stream, 'end')
  if (sent !== size) throw sourceChanged(host, size)
  return options.sha256?.toLowerCase() ?? hash?.digest('hex') ?? ''
}

async function digestIn(stdout: Readable): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: stdout }).on('line', (line) => {
      const [, digest] = /^hyperkube digest: ([0-9a-f]{64})\b/.exec(line) ?? []
      if (digest !== undefined) resolve(digest)
    })
  })
}

export async function opened(
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
    throw new HyperkubeError('UPLOAD_SOURCE_NOT_READ', `${path} is no file that can be sent`, {
      host,
      hint: `ls -l ${path}`,
    })
  }
  return { stream: createReadStream(path, { highWaterMark: 256 << 10 }), size }
}
