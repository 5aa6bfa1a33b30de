import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { EtcdError } from '../../etcd/etcd-error.ts'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import { advanced, type KeyName, phaseOf, unusedSince } from '../../identity/replace-key.ts'
import { secretFiles } from '../../identity/secret-files.ts'
import { type TestAuthority, testAuthority } from '../../kit/testing/test-ca.ts'
import { testBench } from '../../kube/testing/kube-test-bench.ts'
import { encryptedWith } from './find-encrypted.ts'
import { settlementOf, type Settling } from './wait-for-rotation.ts'
import { TestKeysApi } from './testing/fake-keys-api.ts'
import { keyId } from './token-secrets.ts'

let authority: TestAuthority
const { serve, clientOf } = testBench(() => authority)
beforeAll(async () => {
  authority = await testAuthority()
})

const start = Date.parse('2026-11-15T12:00:00Z')
const first = await createIdentity('shop', new Date(start))

const rangeBody = z.object({ key: z.string(), range_end: z.string(), limit: z.string() })

async function after(key: KeyName, turns: number): Promise<Identity> {
  let identity = first
  for (let turn = 0; turn < turns; turn++) identity = await advanced(identity, key, new Date(start))
  return identity
}

interface Settled {
  readonly findings: readonly string[]
  readonly told: readonly string[]
  readonly asked: readonly string[]
}

/** Time passes with every look at the clock. */
async function settled(
  api: TestKeysApi,
  key: KeyName,
  identity: Identity,
  options: Partial<Settling> = {},
): Promise<Settled> {
  const server = await serve((asked) => api.answer(asked))
  const told: string[] = []
  let time = start
  const findings = await settlementOf(key, phaseOf(identity, key) ?? 'trust')?.settle({
    identity,
    api: clientOf([server.url]),
    etcd: {
      read: async (_path, body, schema) => {
        const { key: from, range_end: end, limit } = rangeBody.parse(body)
        return schema.parse(api.range(from, end, Number(limit)))
      },
    },
    restartPods: false,
    every: 1,
    progress: (written) => void told.push(`${written} written`),
    tell: (reason) => void told.push(reason),
    now: () => new Date((time += 10_000)),
    signal: new AbortController().signal,
    ...options,
  })
  return {
    findings: (findings ?? []).map(({ code, message }) => `${code}: ${message}`),
    told,
    asked: server.asked.map(({ method, path }) => `${method} ${path}`),
  }
}

/** What an API server says that works with the encryption of an identity. */
function metricsOf(identity: Identity): string {
  const bytes = secretFiles(identity, []).get('encryption-configuration')?.reveal() ?? new Uint8Array()
  const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  const name = 'apiserver_encryption_config_controller_last_config_info'
  return `# TYPE ${name} gauge\n${name}{apiserver_id_hash="sha256:12",hash="${hash}"} 1\nother 2\n`
}

function secrets(api: TestKeysApi, count: number): void {
  for (let index = 0; index < count; index++)
    api.put('secrets', { metadata: { name: `s${index}`, namespace: 'default' } })
}

test('everything is written with the new key, also what somebody changes meanwhile', async () => {
  const identity = await after('encryption', 2)
  const api = new TestKeysApi()
  secrets(api, 620)
  api.put('configmaps', { metadata: { name: 'c', namespace: 'kube-system' } })
  api.metrics = metricsOf(identity)
  api.writesWith = 'key2'
  const once = new Set(['secrets/default/s3', 'secrets/default/s611'])
  api.beforeWrite = (at) => {
    if (!once.delete(at)) return
    if (at.endsWith('s3')) api.put('secrets', { metadata: { name: 's3', namespace: 'default' } })
    else api.objects.delete(at)
  }
  const { findings, told } = await settled(api, 'encryption', identity)
  expect(findings).toEqual([])
  expect(told.slice(-3)).toEqual(['600 written', '619 written', '620 written'])
  expect(new Set([...api.objects.values()].map(({ key }) => key))).toEqual(new Set(['key2']))
})

test('as long as etcd holds anything of the former key, that one stays', async () => {
  const identity = await after('encryption', 2)
  const api = new TestKeysApi()
  secrets(api, 450)
  api.metrics = metricsOf(identity)
  // A server that still writes with the former one.
  await expect(settled(api, 'encryption', identity)).rejects.toMatchObject({
    code: 'KEYS_STILL_ENCRYPTED',
    message: expect.stringContaining('450 that are encrypted with key1: /registry/secrets/default/s0'),
  })
})

test('objects that are too large for one answer are looked at one by one', async () => {
  const api = new TestKeysApi()
  secrets(api, 30)
  api.put('configmaps', { metadata: { name: 'c', namespace: 'default' } }, 'key2')
  const asked: string[] = []
  const found = await encryptedWith(
    {
      read: async (_path, body, schema) => {
        const { key, range_end: end, limit } = rangeBody.parse(body)
        asked.push(limit)
        if (Number(limit) > 1) throw new EtcdError('ETCD_UNREACHABLE', 'the answer is too long')
        return schema.parse(api.range(key, end, Number(limit)))
      },
    },
    'key1',
    new AbortController().signal,
  )
  expect(found).toHaveLength(30)
  expect(asked.slice(0, 3)).toEqual(['200', '20', '1'])
})

test('no key is used before every server has it, and it is said who has not', async () => {
  const identity = await after('encryption', 1)
  const api = new TestKeysApi()
  api.metrics = metricsOf(first)
  const stop = new AbortController()
  const told: string[] = []
  const tell = (reason: string): void => {
    told.push(reason)
    // The server has looked at its file.
    api.metrics = metricsOf(identity)
  }
  await settled(api, 'encryption', identity, { tell, signal: stop.signal })
  expect(told).toEqual(['127.0.0.1 to read its configuration of encryption'])
})

const pem = (identity: Identity, use: 'current' | 'other'): string => {
  const { certificate, replacement } = identity.authorities.kubernetes
  if (use === 'current') return certificate
  return replacement?.phase === 'trust' ? replacement.next.certificate : (replacement?.former ?? '')
}
const published = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }

function podOf(name: string, maker: object | undefined, started: number): z.infer<typeof looseObject> {
  return {
    metadata: {
      name,
      namespace: 'default',
      creationTimestamp: new Date(started).toISOString(),
      ...(maker === undefined ? {} : { ownerReferences: [{ controller: true, ...maker }] }),
    },
    spec: { volumes: [{ projected: { sources: [{ configMap: { name: 'kube-root-ca.crt' } }] } }] },
    status: {
      phase: 'Running',
      containerStatuses: [{ state: { running: { startedAt: new Date(started).toISOString() } } }],
    },
  }
}
const looseObject = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
})

/** Since noon a namespace has the next authority; one pod of a Deployment began before, and one that nobody makes. */
function podsApi(identity: Identity): TestKeysApi {
  const api = new TestKeysApi()
  const both = `${pem(identity, 'current')}${pem(identity, 'other')}`
  api.put('configmaps', { metadata: published, data: { 'client-ca-file': both } })
  api.put('configmaps', {
    metadata: {
      name: 'kube-root-ca.crt',
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [{ time: new Date(start).toISOString() }],
    },
    data: { 'ca.crt': both },
  })
  const made = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1' }
  api.put('pods', podOf('web-1-a', made, start - 60_000))
  api.put('pods', podOf('web-1-b', made, start + 1000))
  api.put('pods', podOf('alone', undefined, start - 60_000))
  api.put('replicasets', {
    metadata: {
      name: 'web-1',
      namespace: 'default',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', controller: true }],
    },
  })
  api.put('deployments', {
    metadata: { name: 'web', namespace: 'default' },
    status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
  })
  return api
}

test('pods that began before they could trust the next authority are named, and nothing is done to them', async () => {
  const identity = await after('kubernetes', 1)
  const { findings, asked } = await settled(podsApi(identity), 'kubernetes', identity)
  expect(findings).toEqual([
    'KEYS_PODS_TRUST_FORMER: pods began before they could know the new authority: default/web, default/alone',
  ])
  expect(asked.filter((line) => line.startsWith('PATCH'))).toEqual([])
})

test('they are made anew where somebody says so, and ours in any case', async () => {
  const identity = await after('kubernetes', 1)
  const api = podsApi(identity)
  const { findings } = await settled(api, 'kubernetes', identity, { restartPods: true })
  expect(findings).toEqual([expect.stringMatching(/default\/alone$/)])
  expect(api.objects.get('deployments/default/web')?.object).toMatchObject({
    spec: {
      template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': expect.any(String) } } },
    },
  })
  const ours = podsApi(identity)
  ours.put('deployments', {
    metadata: { name: 'web', namespace: 'default', labels: { 'hyperkube.dev/addon': 'web' } },
    status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
  })
  expect((await settled(ours, 'kubernetes', identity)).findings).toEqual([
    expect.stringMatching(/authority: default\/alone$/),
  ])
})

test('the former authority is taken out of what the API tells', async () => {
  const identity = await after('kubernetes', 3)
  const api = new TestKeysApi()
  const both = `${pem(identity, 'other')}${pem(identity, 'current')}`
  const other = first.authorities.frontProxy.certificate
  api.put('configmaps', {
    metadata: published,
    data: { 'client-ca-file': both, 'requestheader-client-ca-file': other },
  })
  const root = (text: string): void =>
    api.put('configmaps', {
      metadata: {
        name: 'kube-root-ca.crt',
        namespace: 'default',
        creationTimestamp: new Date(start).toISOString(),
      },
      data: { 'ca.crt': text },
    })
  root(both)
  await expect(settled(api, 'kubernetes', identity)).rejects.toMatchObject({
    code: 'KEYS_NOT_PUBLISHED',
    message: expect.stringContaining('1 of 1 namespaces to lose the former authority'),
  })
  root(pem(identity, 'current'))
  await settled(api, 'kubernetes', identity)
  expect(api.objects.get(`configmaps/kube-system/${published.name}`)?.object['data']).toEqual({
    'client-ca-file': pem(identity, 'current'),
    'requestheader-client-ca-file': other,
  })
})

function tokenOf(publicKey: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = `${part({ alg: 'ES256', kid: keyId(publicKey) })}.${part({ sub: 'x' })}.c2ln`
  return Buffer.from(token).toString('base64')
}

test('the former key of tokens stays for an hour, and as long as a Secret holds one of it', async () => {
  const switched = unusedSince(await after('service-account', 2), new Date(start))
  const api = new TestKeysApi()
  const type = 'kubernetes.io/service-account-token'
  const put = (name: string, publicKey: string): void =>
    api.put('secrets', {
      type,
      metadata: { name, namespace: 'default' },
      data: { token: tokenOf(publicKey) },
    })
  put('new', switched.serviceAccount.publicKey)
  const early = await settled(api, 'service-account', switched)
  expect(early.findings).toEqual([expect.stringContaining('until 2026-11-15T13:05:00.000Z')])
  const later = { now: () => new Date(start + 3 * 3_600_000) }
  expect((await settled(api, 'service-account', switched, later)).findings).toEqual([])
  put('old', first.serviceAccount.publicKey)
  expect((await settled(api, 'service-account', switched, later)).findings).toEqual([
    expect.stringMatching(/never expire: default\/old$/),
  ])
})

test('since when a key is not used is said once', async () => {
  const switched = await after('service-account', 2)
  const said = unusedSince(switched, new Date(start))
  expect(unusedSince(said, new Date(start + 1))).toBe(said)
  expect(unusedSince(first, new Date(start))).toBe(first)
})
