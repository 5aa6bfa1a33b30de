import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pollUntil } from '../../kit/poll.ts'
import { signal, type RemoteSubject } from './subject.ts'

export function testUploading({ remote, directory, smallDirectory, root, megabytes }: RemoteSubject): void {
  const size = megabytes << 20
  const content = randomBytes(size)
  const sha256 = createHash('sha256').update(content).digest('hex')
  let local = ''
  beforeAll(async () => {
    local = await mkdtemp(join(tmpdir(), 'hyperkube-upload-'))
    await writeFile(join(local, 'file'), content)
  })
  afterAll(async () => rm(local, { recursive: true }))

  const list = async (path = directory()): Promise<string> =>
    (await remote().exec(['ls', '-A', path], { signal })).stdout
  const digest = async (path: string): Promise<string> =>
    (await remote().exec(['sha256sum', path], { signal })).stdout.slice(0, 64)

  test(`a file of ${megabytes} MiB is uploaded completely, and no other file remains`, async () => {
    const target = `${directory()}/it's a file`
    const progress: number[] = []
    const options = { signal, mode: 0o751, sha256, onProgress: (sent: number) => progress.push(sent) }
    await remote().upload({ path: join(local, 'file') }, target, options)
    expect([await digest(target), await list()]).toEqual([sha256, `it's a file\n`])
    expect((await remote().exec(['stat', '-c', '%a', target], { signal })).stdout).toBe('751\n')
    expect([progress.at(-1), progress.toSorted((a, b) => a - b)]).toEqual([size, progress])
    await remote().exec(['rm', target], { signal })
  })

  test('a compressed file is unpacked, and a damaged one is refused', async () => {
    const target = `${directory()}/unpacked`
    const packed = gzipSync(content.subarray(0, 100_000))
    const unpacked = createHash('sha256').update(content.subarray(0, 100_000)).digest('hex')
    const options = { signal, mode: 0o644, sha256: unpacked, isCompressed: true }
    await remote().upload({ bytes: packed }, target, options)
    expect(await digest(target)).toBe(unpacked)
    packed[5000] = (packed[5000] ?? 0) ^ 1
    for (const bytes of [packed, packed.subarray(0, 4000)])
      await expect(remote().upload({ bytes }, target, options)).rejects.toMatchObject({
        code: expect.stringMatching(/^UPLOAD_/),
      })
    expect([await digest(target), await list()]).toEqual([unpacked, 'unpacked\n'])
    await remote().exec(['rm', target], { signal })
  })

  test('bytes and streams replace an existing file, including empty content', async () => {
    const target = `${directory()}/file`
    const options = { signal, mode: 0o600, root }
    const small = Buffer.from('small')
    const sources = [
      { bytes: small },
      { stream: Readable.from([small, small]), size: 10 },
      { bytes: Buffer.alloc(0) },
    ]
    const found: string[] = []
    for (const source of sources) {
      await remote().upload(source, target, options)
      found.push((await remote().exec(['cat', target], { signal, root })).stdout)
    }
    expect(found).toEqual(['small', 'smallsmall', ''])
    await remote().exec(['rm', '-f', target], { signal, root })
  })

  test.each([
    ['with the wrong digest', { bytes: Buffer.from('new') }],
    ['shorter than its announced size', { stream: Readable.from([Buffer.from('new')]), size: 4 }],
    ['longer than its announced size', { stream: Readable.from([Buffer.from('new')]), size: 2 }],
    ['that ends with an error', { stream: failing(), size: 8 }],
  ])('an upload %s is refused: the old file stays, and no other file remains', async (_what, source) => {
    const target = `${directory()}/kept`
    await remote().upload({ bytes: Buffer.from('old') }, target, { signal, mode: 0o600 })
    const wrong = 'f'.repeat(64)
    await expect(remote().upload(source, target, { signal, mode: 0o600, sha256: wrong })).rejects.toThrow(
      /SHA-256 should be f+, but is|changed while it was read|broke off/,
    )
    expect((await remote().exec(['cat', target], { signal })).stdout).toBe('old')
    expect(await list()).toBe('kept\n')
    await remote().exec(['rm', target], { signal })
  })

  test('an aborted upload leaves no file', async () => {
    const stop = new AbortController()
    const onProgress = (sent: number): void => {
      if (sent > size / 2) stop.abort(new Error('enough'))
    }
    const running = remote().upload({ path: join(local, 'file') }, `${directory()}/half`, {
      signal: stop.signal,
      mode: 0o600,
      onProgress,
    })
    await expect(running).rejects.toThrow('enough')
    await pollUntil('nothing to be left', async () => (await list()) === '', { timeoutMs: 10_000 })
  })

  test('an upload to a missing directory or onto a directory fails', async () => {
    const options = { signal, mode: 0o600 }
    const bytes = Buffer.from('x')
    await expect(remote().upload({ bytes }, `${directory()}/none/file`, options)).rejects.toMatchObject({
      code: 'UPLOAD_FAILED',
      host: remote().host,
      hint: `on the host: ls -ld ${directory()}/none`,
    })
    await remote().exec(['mkdir', `${directory()}/taken`], { signal })
    await expect(remote().upload({ bytes }, `${directory()}/taken`, options)).rejects.toMatchObject({
      code: 'UPLOAD_FAILED',
      message: expect.stringContaining('is a directory'),
    })
    expect(await list(`${directory()}/taken`)).toBe('')
    await remote().exec(['rmdir', `${directory()}/taken`], { signal })
  })

  test('a missing local file is reported', async () => {
    await expect(
      remote().upload({ path: join(local, 'none') }, `${directory()}/none`, { signal, mode: 0o600 }),
    ).rejects.toMatchObject({ code: 'UPLOAD_SOURCE_NOT_READ' })
  })

  test.skipIf(smallDirectory === undefined)(
    'an upload to a full disk is reported and leaves no file',
    async () => {
      const small = smallDirectory?.() ?? ''
      await expect(
        remote().upload({ path: join(local, 'file') }, `${small}/file`, { signal, mode: 0o600 }),
      ).rejects.toMatchObject({
        code: 'UPLOAD_NO_ROOM',
        host: remote().host,
        hint: `free disk space on the host: df -h ${small}`,
      })
      expect(await list(small)).toBe('')
    },
  )
}

function failing(): Readable {
  return Readable.from(
    (function* pieces() {
      yield Buffer.from('new')
      throw new Error('broke off')
    })(),
  )
}
