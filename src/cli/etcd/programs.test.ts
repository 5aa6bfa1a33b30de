import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Lock } from '../../catalog/lock.ts'
import { runProgram } from '../../kit/command.ts'
import { clusterSchema as schema } from '../../spec/cluster.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { prepareEtcdPrograms } from './programs.ts'
import { openByteProgress } from '../render/byte-progress.ts'

const arch = process.arch === 'x64' ? 'amd64' : 'arm64'
const folder = `etcd-v3.7.3-linux-${arch}`
const path = `/github.com/etcd-io/etcd/releases/download/v3.7.3/${folder}.tar.gz`

let root: string
let server: Server
let archive: Buffer
let requests: string[]

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'etcd-programs-'))
  await mkdir(join(root, folder))
  for (const name of ['etcd', 'etcdutl', 'etcdctl']) await writeFile(join(root, folder, name), `echo ${name}`)
  await runProgram(['tar', '-czf', join(root, 'archive'), '-C', root, folder])
  archive = await readFile(join(root, 'archive'))
  requests = []
  server = createServer(({ url = '' }, response) => {
    requests.push(url)
    response.writeHead(url === path ? 200 : 404).end(archive)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await rm(root, { recursive: true })
})

async function preparePrograms(sha256: string, system: 'linux' | 'windows' = 'linux') {
  const address = server.address()
  const cluster = schema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'shop' },
    spec: {
      kubernetes: '1.37.1',
      hosts: [{ name: 'cp1', address: '10.0.0.1', roles: ['control-plane'] }],
      artifacts: { mirror: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` },
    },
  })
  const lock: Lock = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Lock',
    kubernetes: '1.37.1',
    artifacts: [
      {
        component: 'etcd',
        version: '3.7.3',
        os: system,
        arch,
        url: `https:/${path}`,
        sha256,
        trust: 'published',
      },
    ],
    images: {},
  }
  const { context } = createInMemoryContext({}, { cacheDirectory: join(root, 'cache') })
  using progress = openByteProgress(context)
  return await prepareEtcdPrograms(
    { files: { file: 'cluster.yml' }, cluster, lock },
    { ...context, progress },
  )
}

const digest = (): string => createHash('sha256').update(archive).digest('hex')
const listCached = async (): Promise<string[]> => readdir(join(root, 'cache/hyperkube/programs'))

test('etcd is downloaded once, verified and unpacked', async () => {
  const programs = await preparePrograms(digest())
  expect(await readFile(programs.etcd, 'utf8')).toBe('echo etcd')
  expect(await preparePrograms(digest())).toEqual(programs)
  expect(requests).toEqual([path])
  expect(await listCached()).toEqual([`${folder}-${digest().slice(0, 12)}`])
})

test('an archive with another digest than in the lock is refused and not kept', async () => {
  await expect(preparePrograms('0'.repeat(64))).rejects.toMatchObject({ code: 'PROGRAM_CHANGED' })
  expect(await listCached()).toEqual([])
})

test('a lock without etcd for this operating system is an error', async () => {
  await expect(preparePrograms(digest(), 'windows')).rejects.toMatchObject({ code: 'PROGRAM_NOT_LOCKED' })
})
