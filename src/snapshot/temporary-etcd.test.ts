import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pollUntil } from '../kit/poll.ts'
import { createSnapshotDirectory } from './testing/fixtures.ts'
import { startTemporaryEtcd } from './temporary-etcd.ts'

let directory: Awaited<ReturnType<typeof createSnapshotDirectory>>

beforeEach(async () => {
  directory = await createSnapshotDirectory()
  await mkdir(directory.at('work'))
})
afterEach(async () => directory[Symbol.asyncDispose]())

async function script(name: string, text: string): Promise<string> {
  await writeFile(directory.at(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  return directory.at(name)
}

const { signal } = new AbortController()

test('a database that etcdutl refuses is reported', async () => {
  const etcdutl = await script('etcdutl', 'echo "snapshot missing hash" >&2; exit 1')
  const starting = startTemporaryEtcd({ etcd: 'none', etcdutl }, 'etcd.db', directory.at('work'), signal)
  await expect(starting).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_RESTORED',
    cause: { message: expect.stringContaining('snapshot missing hash') },
  })
})

test('an etcd that exits at once is reported', async () => {
  const programs = {
    etcdutl: await script('etcdutl', 'exit 0'),
    etcd: await script('etcd', 'echo "cannot open it" >&2'),
  }
  await expect(startTemporaryEtcd(programs, 'etcd.db', directory.at('work'), signal)).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_RESTORED',
    cause: { message: expect.stringContaining('cannot open it') },
  })
})

test('an etcd that never becomes ready is killed on abort', async () => {
  const pid = directory.at('pid')
  const programs = {
    etcdutl: await script('etcdutl', 'exit 0'),
    etcd: await script('etcd', `echo $$ > ${pid}.new; mv ${pid}.new ${pid}; exec sleep 1000`),
  }
  const stop = new AbortController()
  const starting = startTemporaryEtcd(programs, 'etcd.db', directory.at('work'), stop.signal)
  const id = await pollUntil('etcd to run', async () => readPid(pid), { timeoutMs: 20_000, intervalMs: 5 })
  stop.abort(new Error('enough'))
  await expect(starting).rejects.toThrow('enough')
  expect(() => process.kill(id, 0)).toThrow('ESRCH')
})

async function readPid(path: string): Promise<number> {
  return Number(await readFile(path, 'utf8'))
}

test('the temporary etcd is reached over a socket in its own directory', async () => {
  const programs = {
    etcdutl: await script('etcdutl', 'exit 0'),
    etcd: await script('etcd', 'exec sleep 1000'),
  }
  const requests: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')))
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${body}`)
      response.end(request.url === '/readyz' ? 'ok' : '{"header": {"revision": "7"}, "count": "5"}')
    })
  })
  await new Promise<void>((resolve) => server.listen(directory.at('work/client'), resolve))
  try {
    await using member = await startTemporaryEtcd(programs, 'etcd.db', directory.at('work'), signal)
    expect(await member.countKeys(6)).toEqual({ revision: 7, keys: 5 })
    expect(requests.at(-1)).toContain('"count_only":true')
    expect(requests.at(-1)).toContain('"revision":"6"')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
