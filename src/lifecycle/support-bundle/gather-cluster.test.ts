import { afterEach, beforeAll, expect, test } from 'vitest'
import { EtcdClient } from '../../etcd/client.ts'
import { fakeEtcd } from '../../etcd/testing/fake-etcd.ts'
import { describe } from '../../kit/errors.ts'
import { secretMask } from '../../kit/mask-secrets.ts'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import type { Asked, TestAnswer } from '../../kit/testing/https-test-server.ts'
import { testBench } from '../../kube/testing/kube-test-bench.ts'
import { gatherCluster } from './collect-cluster.ts'
import { isFile } from './support-entry.ts'

let authority: TestAuthority
let stack = new AsyncDisposableStack()
const { serve, clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})
afterEach(async () => {
  const used = stack
  stack = new AsyncDisposableStack()
  await used.disposeAsync()
})

const { signal } = new AbortController()

function etcdAt(endpoints: readonly string[]): EtcdClient {
  const { certificate, client } = authority
  return stack.use(new EtcdClient({ endpoints, authority: certificate, credentials: client, signal }))
}

const metadata = { name: 'one', namespace: 'shop', managedFields: [{ manager: 'me' }] }
const applied = {
  'kubectl.kubernetes.io/last-applied-configuration': '{"password-in":"CANARY"}',
  mine: 'kept',
}
const items: Readonly<Record<string, object>> = {
  '/api/v1/nodes': {
    metadata: { ...metadata, annotations: applied },
    status: { images: [{ names: ['an-image'] }], conditions: [{ type: 'Ready', status: 'True' }] },
  },
  '/api/v1/pods': {
    metadata: { ...metadata, annotations: applied },
    spec: {
      nodeName: 'w1',
      containers: [
        {
          name: 'app',
          image: 'shop:1',
          command: ['run', '--login', 'CANARY'],
          env: [{ name: 'LOGIN', value: 'CANARY' }],
        },
      ],
      volumes: [{ name: 'v', nfs: { server: 'CANARY' } }],
    },
    status: { phase: 'Running' },
  },
  '/apis/hyperkube.dev/v1/hosts': { metadata, status: { idle: 'https://me:CANARY@r.example.org' } },
  '/apis/events.k8s.io/v1/events': { metadata, note: 'pull of https://me:CANARY@r.example.org failed' },
}

function answer({ path }: Asked): TestAnswer {
  if (path === '/readyz') return { status: 200, text: 'ok' }
  const item = items[path]
  return item === undefined ? { status: 404, text: '' } : { json: { metadata: {}, items: [item] } }
}

async function gathered(servers: readonly string[], etcd: EtcdClient) {
  const api = clientOf(servers, { timing: { timeout: 500 } })
  const gathering = { api, etcd, mask: secretMask(), reasonOf: describe, signal }
  const pieces = await Array.fromAsync(gatherCluster(gathering))
  return {
    files: new Map(pieces.filter(isFile).map(({ path, text }) => [path, text])),
    leftOut: pieces.flatMap((piece) => (isFile(piece) ? [] : [piece])),
  }
}

test('what a cluster says of itself, without what nobody else is to know', async () => {
  const server = await serve(answer)
  const etcd = await fakeEtcd(authority, stack, { id: 'a' }, { id: 'b', away: true })
  const { files, leftOut } = await gathered([server.url], etcdAt(etcd.servers.map(({ url }) => url)))
  expect([...files.keys()]).toEqual([
    'etcd.json',
    'api-servers.json',
    'nodes.json',
    'pods.json',
    'events.json',
    'hosts.json',
  ])
  expect(leftOut).toEqual([])
  expect([...files.values()].join('')).not.toContain('CANARY')
  expect(JSON.parse(files.get('pods.json') ?? '')).toMatchObject({
    items: [
      {
        metadata: { name: 'one', namespace: 'shop' },
        spec: { nodeName: 'w1', containers: [{ name: 'app', image: 'shop:1' }] },
        status: { phase: 'Running' },
      },
    ],
  })
  expect(JSON.parse(files.get('nodes.json') ?? '')).toMatchObject({
    items: [{ metadata: { annotations: { mine: 'kept' } }, status: { conditions: [{ type: 'Ready' }] } }],
  })
  expect(files.get('nodes.json')).not.toContain('an-image')
  expect(JSON.parse(files.get('etcd.json') ?? '')).toMatchObject({ members: [{ id: 'a' }, { id: 'b' }] })
  expect(server.asked.map(({ path }) => path).filter((path) => /secret|configmap/.test(path))).toEqual([])
})

test('with the API and etcd away, that is what is told', async () => {
  const server = await serve(() => ({ status: 500, text: '[-]etcd failed: reason withheld' }))
  const { files, leftOut } = await gathered([server.url], etcdAt([]))
  expect([...files.keys()]).toEqual(['api-servers.json'])
  expect(JSON.parse(files.get('api-servers.json') ?? '')).toMatchObject([{ ready: false, failing: ['etcd'] }])
  expect(leftOut.map(({ what }) => what)).toEqual([
    'etcd.json',
    'nodes.json',
    'pods.json',
    'events.json',
    'hosts.json',
  ])
  expect(leftOut[1]?.reason).toBe('no API server is ready')
  expect(server.asked).toHaveLength(1)
})
