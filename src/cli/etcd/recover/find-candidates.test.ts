import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Secret } from '../../../pki/secret.ts'
import { buildTestCluster } from '../../../plan/testing/fixtures.ts'
import { createInMemoryContext } from '../../testing/run-in-memory.ts'
import { type EtcdInvocation, etcdFlags } from '../action.ts'
import { buildSnapshot, clusterFiles, clusterIdentity } from '../testing/fixtures.ts'
import { findSnapshotSource } from '../verify.ts'
import { findSnapshotCandidates } from './find-candidates.ts'

const name = 'shop-2026-11-15T12-00-00Z.snapshot'
/** What the server of the bucket lists; it denies requests while this is undefined. */
let listed: string | undefined
const server = createServer((_, response) => response.writeHead(listed === undefined ? 403 : 200).end(listed))

let directory: string
let endpoint: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'candidates-'))
  const sealed = clusterFiles['cluster.identity'] ?? ''
  await writeFile(join(directory, name), await buildSnapshot(clusterIdentity, sealed))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(directory, { recursive: true })
})

function invoke(backupDirectory: string): { invocation: EtcdInvocation; readErrors: () => string } {
  const { context, collectResult } = createInMemoryContext(clusterFiles)
  const cluster = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')
  const secret = (text: string): Secret => new Secret(text, Buffer.from(text))
  const secrets = { access: secret('access'), secret: secret('secret') }
  const s3 = {
    ...{ endpoint, region: 'here', bucket: 'backups' },
    ...{ accessKey: { secret: 'access' }, secretKey: { secret: 'secret' } },
  }
  const backup = { ...cluster.spec.etcd.backup, directory: backupDirectory, s3 }
  const invocation: EtcdInvocation = {
    context,
    options: { file: 'cluster.yml', output: 'table', input: true },
    flags: etcdFlags.parse({}),
    cluster: { ...cluster, spec: { ...cluster.spec, etcd: { ...cluster.spec.etcd, backup } } },
    identity: async () => ({ ...clusterIdentity, secrets }),
    name: undefined,
  }
  return { invocation, readErrors: () => collectResult(0).stderr }
}

test('a store that cannot be read is reported, and the snapshots of the others are found', async () => {
  const { invocation, readErrors } = invoke(directory)
  const { candidates, storeErrors } = await findSnapshotCandidates(invocation)
  expect(candidates.map((one) => one.name)).toEqual([name])
  expect(storeErrors.map(({ code }) => code)).toEqual(['SNAPSHOT_STORE_DENIED'])
  expect(readErrors()).toBe(
    'SNAPSHOT_STORE_DENIED: s3://backups: list: status 403; its snapshots are not in the list\n',
  )
})

test('a snapshot is found although another store cannot be read', async () => {
  const notDirectory = join(directory, name)
  const find = async (): Promise<string> =>
    (await findSnapshotSource(invoke(notDirectory).invocation, 'other')).store
  await expect(find()).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_FAILED' })
  listed =
    '<Contents><Key>other.snapshot</Key><LastModified>2026-11-15</LastModified><Size>7</Size></Contents>'
  expect(await find()).toBe('s3://backups/')
  listed = undefined
})
