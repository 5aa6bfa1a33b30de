import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../kit/poll-until.ts'
import { temporaryDirectory } from './testing/fixtures.ts'
import { startScratch } from './temporary-etcd.ts'

let directory: Awaited<ReturnType<typeof temporaryDirectory>>

beforeEach(async () => {
  directory = await temporaryDirectory()
  await mkdir(directory.at('work'))
})
afterEach(async () => directory[Symbol.asyncDispose]())

async function script(name: string, text: string): Promise<string> {
  await writeFile(directory.at(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  return directory.at(name)
}

const { signal } = new AbortController()

test('a database that etcd does not take', async () => {
  const etcdutl = await script('etcdutl', 'echo "snapshot missing hash" >&2; exit 1')
  const starting = startScratch({ etcd: 'none', etcdutl }, 'etcd.db', directory.at('work'), signal)
  await expect(starting).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_RESTORED',
    cause: { message: expect.stringContaining('snapshot missing hash') },
  })
})

test('an etcd that ends by itself', async () => {
  const programs = {
    etcdutl: await script('etcdutl', 'exit 0'),
    etcd: await script('etcd', 'echo "cannot open it" >&2'),
  }
  await expect(startScratch(programs, 'etcd.db', directory.at('work'), signal)).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_RESTORED',
    cause: { message: expect.stringContaining('cannot open it') },
  })
})

test('an etcd that never becomes well is gone with an abort', async () => {
  const pid = directory.at('pid')
  const programs = {
    etcdutl: await script('etcdutl', 'exit 0'),
    etcd: await script('etcd', `echo $$ > ${pid}.new; mv ${pid}.new ${pid}; exec sleep 1000`),
  }
  const stop = new AbortController()
  const starting = startScratch(programs, 'etcd.db', directory.at('work'), stop.signal)
  const id = await until('it to run', async () => pidIn(pid), { within: 20_000, every: 5 })
  stop.abort(new Error('enough'))
  await expect(starting).rejects.toThrow('enough')
  expect(() => process.kill(id, 0)).toThrow('ESRCH')
})

async function pidIn(path: string): Promise<number> {
  return Number(await readFile(path, 'utf8'))
}

test('it is asked by a socket in its own directory', async () => {
  const programs = {
    etcdutl: await script('etcdutl', 'exit 0'),
    etcd: await script('etcd', 'exec sleep 1000'),
  }
  const asked: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')))
    request.on('end', () => {
      asked.push(`${request.method} ${request.url} ${body}`)
      response.end(request.url === '/readyz' ? 'ok' : '{"header": {"revision": "7"}, "count": "5"}')
    })
  })
  await new Promise<void>((resolve) => server.listen(directory.at('work/client'), resolve))
  try {
    await using member = await startScratch(programs, 'etcd.db', directory.at('work'), signal)
    expect(await member.count(6)).toEqual({ revision: 7, keys: 5 })
    expect(asked.at(-1)).toContain('"count_only":true')
    expect(asked.at(-1)).toContain('"revision":"6"')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
