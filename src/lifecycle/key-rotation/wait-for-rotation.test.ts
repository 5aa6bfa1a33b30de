import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { EtcdError } from '../../etcd/etcd-error.ts'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import {
  advanceReplacement,
  findReplacementPhase,
  type KeyName,
  recordPreviousKeyUnused,
} from '../../identity/replace-key.ts'
import { secretFiles } from '../../identity/secret-files.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { createKubeTestBench } from '../../kube/testing/kube-test-bench.ts'
import { findEncryptedWith } from './encryption.ts'
import { EncryptedCluster } from './testing/encrypted-cluster.ts'
import { volumeRefreshMs } from './stale-pods.ts'
import { computeKeyId } from './token-secrets.ts'
import { findRotationStep, type RotationContext } from './wait-for-rotation.ts'

let ca: TestCa
const { serve, createClient } = createKubeTestBench(() => ca)
beforeAll(async () => {
  ca = await createTestCa()
})

const start = Date.parse('2026-11-15T12:00:00Z')
const first = await createIdentity('shop', new Date(start))

const rangeBody = z.object({ key: z.string(), range_end: z.string(), limit: z.string() })

async function after(key: KeyName, phases: number): Promise<Identity> {
  let identity = first
  for (let phase = 0; phase < phases; phase++)
    identity = await advanceReplacement(identity, key, new Date(start))
  return identity
}

interface StepOutput {
  readonly findings: readonly string[]
  readonly hints: readonly string[]
  readonly reported: readonly string[]
  readonly received: readonly string[]
}

/** Runs the rotation step of the current phase. The clock advances with every read. */
async function runStep(
  api: EncryptedCluster,
  key: KeyName,
  identity: Identity,
  options: Partial<RotationContext> = {},
): Promise<StepOutput> {
  const server = await serve(api.api.respond)
  const reported: string[] = []
  let time = start
  const findings = await findRotationStep(key, findReplacementPhase(identity, key) ?? 'trust')?.run({
    identity,
    api: createClient([server.url]),
    etcd: {
      read: async (_path, body, schema) => {
        const { key: from, range_end: end, limit } = rangeBody.parse(body)
        return schema.parse(api.range(from, end, Number(limit)))
      },
    },
    restartPods: false,
    extendsTokens: false,
    pause: async () => undefined,
    progress: (written) => void reported.push(`${written} written`),
    report: (reason) => void reported.push(reason),
    now: () => new Date((time += 10_000)),
    signal: new AbortController().signal,
    ...options,
  })
  return {
    findings: (findings ?? []).map(({ code, message }) => `${code}: ${message}`),
    hints: (findings ?? []).map(({ hint = '' }) => hint),
    reported,
    received: server.requests.map(({ method, path }) => `${method} ${path}`),
  }
}

/** Metrics of an API server that uses the encryption configuration of an identity. */
function metricsOf(identity: Identity): string {
  const bytes = secretFiles(identity).get('encryption-configuration')?.reveal() ?? new Uint8Array()
  const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  const name = 'apiserver_encryption_config_controller_last_config_info'
  return `# TYPE ${name} gauge\n${name}{apiserver_id_hash="sha256:12",hash="${hash}"} 1\nother 2\n`
}

function secrets(api: EncryptedCluster, count: number): void {
  for (let index = 0; index < count; index++)
    api.put('secrets', { metadata: { name: `s${index}`, namespace: 'default' } })
}

test('all objects are rewritten with the new key, including concurrent changes', async () => {
  const identity = await after('encryption', 2)
  const api = new EncryptedCluster()
  secrets(api, 620)
  api.put('configmaps', { metadata: { name: 'c', namespace: 'kube-system' } })
  api.metrics = metricsOf(identity)
  api.writesWith = 'key2'
  const once = new Set(['secrets/default/s3', 'secrets/default/s611'])
  api.beforeWrite = (at) => {
    if (!once.delete(at)) return
    if (at.endsWith('s3')) api.put('secrets', { metadata: { name: 's3', namespace: 'default' } })
    else api.remove(at)
  }
  const { findings, reported } = await runStep(api, 'encryption', identity)
  expect(findings).toEqual([])
  expect(reported.slice(-3)).toEqual(['600 written', '619 written', '620 written'])
  expect(api.usedKeys).toEqual(new Set(['key2']))
})

test('a rotation fails while etcd holds objects encrypted with the previous key', async () => {
  const identity = await after('encryption', 2)
  const api = new EncryptedCluster()
  secrets(api, 450)
  api.metrics = metricsOf(identity)
  // The fake API still encrypts with the previous key.
  await expect(runStep(api, 'encryption', identity)).rejects.toMatchObject({
    code: 'KEYS_STILL_ENCRYPTED',
    message: expect.stringContaining(
      '450 objects that are encrypted with key1: /registry/secrets/default/s0',
    ),
  })
})

test('objects that are too large for one response are read one by one', async () => {
  const api = new EncryptedCluster()
  secrets(api, 30)
  api.put('configmaps', { metadata: { name: 'c', namespace: 'default' } }, 'key2')
  const received: string[] = []
  const found = await findEncryptedWith(
    {
      read: async (_path, body, schema) => {
        const { key, range_end: end, limit } = rangeBody.parse(body)
        received.push(limit)
        if (Number(limit) > 1) throw new EtcdError('ETCD_UNREACHABLE', 'the answer is too long')
        return schema.parse(api.range(key, end, Number(limit)))
      },
    },
    'key1',
    new AbortController().signal,
  )
  expect(found).toHaveLength(30)
  expect(received.slice(0, 3)).toEqual(['200', '20', '1'])
})

test('a rotation waits until every API server loaded the key and reports missing servers', async () => {
  const identity = await after('encryption', 1)
  const api = new EncryptedCluster()
  api.metrics = metricsOf(first)
  const stop = new AbortController()
  const reported: string[] = []
  const report = (reason: string): void => {
    reported.push(reason)
    // From now on the server reports the new configuration.
    api.metrics = metricsOf(identity)
  }
  await runStep(api, 'encryption', identity, { report, signal: stop.signal })
  expect(reported).toEqual(['127.0.0.1 to load its encryption configuration'])
})

const pem = (identity: Identity, use: 'current' | 'other'): string => {
  const { certificate, replacement } = identity.cas.kubernetes
  if (use === 'current') return certificate
  return replacement?.phase === 'trust' ? replacement.next.certificate : (replacement?.previous ?? '')
}
const published = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }

function podOf(name: string, podOwner: object | undefined, started: number): z.infer<typeof looseObject> {
  return {
    metadata: {
      name,
      namespace: 'default',
      creationTimestamp: new Date(started).toISOString(),
      ...(podOwner === undefined ? {} : { ownerReferences: [{ controller: true, ...podOwner }] }),
    },
    spec: { volumes: [{ projected: { sources: [{ configMap: { name: 'kube-root-ca.crt' } }] } }] },
    status: {
      phase: 'Running',
      containerStatuses: [{ state: { running: { startedAt: new Date(started).toISOString() } } }],
    },
  }
}
const looseObject = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
})

/** Puts the ReplicaSet of a Deployment. Its name ends with -1. */
function putReplicaSet(api: EncryptedCluster, deployment: string): void {
  api.put('replicasets', {
    metadata: {
      name: `${deployment}-1`,
      namespace: 'default',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: deployment, controller: true }],
    },
  })
}

/**
 * Builds a cluster whose kube-root-ca.crt ConfigMap in `default` was changed at `start` and contains both
 * CAs. One pod of a Deployment and one pod without a controller started before `start`. Another pod of the
 * Deployment started after it.
 */
function podsApi(identity: Identity): EncryptedCluster {
  const api = new EncryptedCluster()
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
  putReplicaSet(api, 'web')
  api.put('deployments', {
    metadata: { name: 'web', namespace: 'default' },
    status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
  })
  return api
}

test('pods that started before the next CA was published are reported and not restarted', async () => {
  const identity = await after('kubernetes', 1)
  const { findings, hints, received } = await runStep(podsApi(identity), 'kubernetes', identity)
  expect(findings).toEqual([
    'KEYS_PODS_TRUST_PREVIOUS: these pods started before they could receive the new CA: default/web, default/alone',
  ])
  expect(hints).toEqual([expect.stringMatching(/kubectl rollout restart.*--restart-pods$/)])
  expect(received.filter((line) => line.startsWith('PATCH'))).toEqual([])
})

test('pods without the next CA are restarted on request, and pods of addons always', async () => {
  const identity = await after('kubernetes', 1)
  const api = podsApi(identity)
  const { findings, hints } = await runStep(api, 'kubernetes', identity, { restartPods: true })
  expect(findings).toEqual([expect.stringMatching(/default\/alone$/)])
  // Nothing of the other hint would help with a pod without a controller.
  expect(hints).toEqual([expect.not.stringContaining('restart-pods')])
  expect(api.get('deployments/default/web')).toMatchObject({
    spec: {
      template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': expect.any(String) } } },
    },
  })
  const ours = podsApi(identity)
  ours.put('deployments', {
    metadata: { name: 'web', namespace: 'default', labels: { 'hyperkube.dev/addon': 'web' } },
    status: { replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
  })
  expect((await runStep(ours, 'kubernetes', identity)).findings).toEqual([
    expect.stringMatching(/new CA: default\/alone$/),
  ])
})

test('a workload that has not run before, and never will, does not stop the rotation', async () => {
  const identity = await after('kubernetes', 1)
  const api = podsApi(identity)
  const made = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'broken-1' }
  const broken = podOf('broken-1-a', made, start - 60_000)
  api.put('pods', {
    ...broken,
    status: { phase: 'Pending', containerStatuses: [{ state: { waiting: {} } }] },
  })
  putReplicaSet(api, 'broken')
  api.put('deployments', {
    metadata: { name: 'broken', namespace: 'default' },
    status: { replicas: 2, updatedReplicas: 1, availableReplicas: 0 },
  })
  const { findings } = await runStep(api, 'kubernetes', identity, { restartPods: true })
  expect(findings).toEqual([expect.stringMatching(/new CA: default\/alone$/)])
  // Its volumes are refreshed now, so that it needs no restart.
  const later = () => new Date(start + volumeRefreshMs)
  const { received } = await runStep(api, 'kubernetes', identity, { restartPods: true, now: later })
  expect(received.filter((line) => line.startsWith('PATCH') && line.includes('broken'))).toEqual([])
})

test('the previous CA is removed from the published ConfigMaps', async () => {
  const identity = await after('kubernetes', 3)
  const api = new EncryptedCluster()
  const both = `${pem(identity, 'other')}${pem(identity, 'current')}`
  const other = first.cas.frontProxy.certificate
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
  await expect(runStep(api, 'kubernetes', identity)).rejects.toMatchObject({
    code: 'KEYS_NOT_PUBLISHED',
    message: expect.stringContaining('1 of 1 namespaces to drop the previous CA'),
  })
  root(pem(identity, 'current'))
  await runStep(api, 'kubernetes', identity)
  expect(api.get(`configmaps/kube-system/${published.name}`)?.['data']).toEqual({
    'client-ca-file': pem(identity, 'current'),
    'requestheader-client-ca-file': other,
  })
})

function tokenOf(publicKey: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = `${part({ alg: 'ES256', kid: computeKeyId(publicKey) })}.${part({ sub: 'x' })}.c2ln`
  return Buffer.from(token).toString('base64')
}

test('the previous token key stays for an hour, and while a Secret holds one of its tokens', async () => {
  const switched = recordPreviousKeyUnused(await after('service-account', 2), new Date(start))
  const api = new EncryptedCluster()
  const type = 'kubernetes.io/service-account-token'
  const put = (name: string, publicKey: string): void =>
    api.put('secrets', {
      type,
      metadata: { name, namespace: 'default' },
      data: { token: tokenOf(publicKey) },
    })
  put('new', switched.serviceAccount.publicKey)
  const early = await runStep(api, 'service-account', switched)
  expect(early.findings).toEqual([expect.stringContaining('until 2026-11-15T13:05:00.000Z')])
  const later = { now: () => new Date(start + 3 * 3_600_000) }
  expect((await runStep(api, 'service-account', switched, later)).findings).toEqual([])
  put('old', first.serviceAccount.publicKey)
  expect((await runStep(api, 'service-account', switched, later)).findings).toEqual([
    expect.stringMatching(/never expire: default\/old$/),
  ])
})

test('with extended tokens, pods that started before the new token key must restart', async () => {
  const switched = recordPreviousKeyUnused(await after('service-account', 2), new Date(start))
  const later = { now: () => new Date(start + 3 * 3_600_000) }
  const identity = await after('kubernetes', 1)
  expect((await runStep(podsApi(identity), 'service-account', switched, later)).findings).toEqual([])
  const extended = { ...later, extendsTokens: true }
  const { findings, hints } = await runStep(podsApi(identity), 'service-account', switched, extended)
  expect(findings).toEqual([expect.stringMatching(/^KEYS_TOKENS_ALIVE: .*: default\/web, default\/alone$/)])
  expect(hints).toEqual([expect.not.stringContaining('restart-pods')])
})

test('the time since when the previous key is unused is recorded once', async () => {
  const switched = await after('service-account', 2)
  const dated = recordPreviousKeyUnused(switched, new Date(start))
  expect(recordPreviousKeyUnused(dated, new Date(start + 1))).toBe(dated)
  expect(recordPreviousKeyUnused(first, new Date(start))).toBe(first)
})
