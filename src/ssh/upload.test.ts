import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRemote } from './create-remote.ts'
import { startProcessChannel } from './process-channel.ts'
import type { Remote } from './remote.ts'
import { signal } from './testing/subject.ts'

let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-upload-'))
})
afterAll(async () => rm(directory, { recursive: true }))

const content = Buffer.from('some content')
const sha256 = createHash('sha256').update(content).digest('hex')

/** A host whose openssl is this shell script. */
async function createHostWithOpenssl(script: string): Promise<Remote> {
  await writeFile(join(directory, 'openssl'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const path = `PATH=${directory}:${process.env['PATH'] ?? ''}`
  return createRemote({
    host: 'h1',
    user: 'root',
    start: async (argv) => startProcessChannel(['env', path, ...argv]),
    dial: async () => Promise.reject(new Error('not used')),
    dialSocket: async () => undefined,
    close: async () => undefined,
  })
}

test('the digest that openssl computes is compared', async () => {
  const remote = await createHostWithOpenssl(`echo ${'0'.repeat(64)} '*stdin'`)
  const target = join(directory, 'refused')
  await expect(remote.upload({ bytes: content }, target, { signal, mode: 0o600 })).rejects.toMatchObject({
    code: 'UPLOAD_NOT_WHOLE',
    message: expect.stringContaining(`should be ${sha256}, but is ${'0'.repeat(64)}`),
  })
})

test('sha256sum computes the digest if openssl is missing or cannot', async () => {
  const remote = await createHostWithOpenssl('echo "unknown digest" >&2; exit 1')
  const target = join(directory, 'uploaded')
  await remote.upload({ bytes: content }, target, { signal, mode: 0o600 })
  expect(await readFile(target, 'utf8')).toBe('some content')
})
