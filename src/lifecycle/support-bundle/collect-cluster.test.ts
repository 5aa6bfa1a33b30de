import { afterEach, beforeAll, expect, test } from 'vitest'
import { EtcdClient } from '../../etcd/client.ts'
import { fakeEtcd } from '../../etcd/testing/fake-etcd.ts'
import { formatError } from '../../kit/errors.ts'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import { isSupportFile } from './archive.ts'
import { collectClusterFiles } from './collect-cluster.ts'

let ca: TestCa
let stack = new AsyncDisposableStack()
const { serve, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})
afterEach(async () => {
  const used = stack
  stack = new AsyncDisposableStack()
  await used.disposeAsync()
})

const { signal } = new AbortController()

function etcdAt(endpoints: readonly string[]): EtcdClient {
  const { certificate, client } = ca
  return stack.use(new EtcdClient({ endpoints, ca: certificate, credentials: client, signal }))
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

function respond({ path }: ReceivedRequest): TestResponse {
  if (path === '/readyz') return { status: 200, text: 'ok' }
  const item = items[path]
  return item === undefined ? { status: 404, text: '' } : { json: { metadata: {}, items: [item] } }
}

async function collect(servers: readonly string[], etcd: EtcdClient) {
  const api = createClient(servers, { timing: { timeout: 500 } })
  const options = { api, etcd, mask: createSecretMask(), formatReason: formatError, signal }
  const entries = await Array.fromAsync(collectClusterFiles(options))
  return {
    files: new Map(entries.filter(isSupportFile).map(({ path, text }) => [path, text])),
    omitted: entries.flatMap((entry) => (isSupportFile(entry) ? [] : [entry])),
  }
}

test('collects the state of a cluster without confidential data', async () => {
  const server = await serve(respond)
  const etcd = await fakeEtcd(ca, stack, { id: 'a' }, { id: 'b', unreachable: true })
  const { files, omitted } = await collect([server.url], etcdAt(etcd.servers.map(({ url }) => url)))
  expect([...files.keys()]).toEqual([
    'etcd.json',
    'api-servers.json',
    'nodes.json',
    'pods.json',
    'events.json',
    'hosts.json',
  ])
  expect(omitted).toEqual([])
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
  expect(server.requests.map(({ path }) => path).filter((path) => /secret|configmap/.test(path))).toEqual([])
})

test('an unreachable API and etcd are reported as omitted', async () => {
  const server = await serve(() => ({ status: 500, text: '[-]etcd failed: reason withheld' }))
  const { files, omitted } = await collect([server.url], etcdAt([]))
  expect([...files.keys()]).toEqual(['api-servers.json'])
  expect(JSON.parse(files.get('api-servers.json') ?? '')).toMatchObject([{ ready: false, failing: ['etcd'] }])
  expect(omitted.map(({ item }) => item)).toEqual([
    'etcd.json',
    'nodes.json',
    'pods.json',
    'events.json',
    'hosts.json',
  ])
  expect(omitted[1]?.reason).toBe('no API server is ready')
  expect(server.requests).toHaveLength(1)
})
