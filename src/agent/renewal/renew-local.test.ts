import { rm, writeFile } from 'node:fs/promises'
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { renewalAnnotations } from '../../contract/renewal.ts'
import { pollUntil } from '../../kit/poll.ts'
import { inspectCertificate } from '../../pki/certificates.ts'
import { day, year } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { diffHost } from '../apply/diff-host.ts'
import { readJournal } from '../records/journal.ts'
import { Killed, withCrash } from '../apply/testing/crash-injection.ts'
import { signForNodes } from './sign-for-nodes.ts'
import { renewLocalCertificates } from './renew-local.ts'
import { createNodeClient } from './node-api.ts'
import { buildSigningRequestName, requestSignature } from './signing-request.ts'
import { setUpAgeMs, type RenewalTestAgent, RenewalTestCluster } from './testing/renewal-cluster.ts'

let cluster: RenewalTestCluster
beforeAll(async () => {
  cluster = await RenewalTestCluster.create()
})
beforeEach(() => cluster.signing.clear())
afterAll(async () => cluster[Symbol.asyncDispose]())

const minute = 60_000

async function createWorkerAndControlPlane(): Promise<readonly [RenewalTestAgent, RenewalTestAgent]> {
  return [await cluster.createAgent('w1', 'worker'), await cluster.createAgent('cp1', 'control-plane')]
}

async function readCertificates({ planned, read }: RenewalTestAgent): Promise<string[]> {
  return Promise.all(planned.map(async ({ certificateFile }) => read(certificateFile)))
}

/** Waits until the run is removed from `runs`, because its end is reported earlier. */
async function waitForRunEnd({ deps }: RenewalTestAgent): Promise<void> {
  await pollUntil('the run to end', async () => !deps.runs.busy, { timeoutMs: 5000, intervalMs: 1 })
}

/** Expects that each certificate is new and has the same subject, and that the host matches its plan. */
async function expectRenewed(agent: RenewalTestAgent, before: readonly string[]): Promise<void> {
  const after = await readCertificates(agent)
  for (const [index, pem] of after.entries()) {
    const [previous, now] = [inspectCertificate(before[index] ?? ''), inspectCertificate(pem)]
    expect(now.serial).not.toBe(previous.serial)
    expect(now.subjectKeyId).not.toBe(previous.subjectKeyId)
    expect(now.commonName).toBe(previous.commonName)
    expect(now.organizations).toEqual(previous.organizations)
    expect(now.notAfter.getTime() - previous.notAfter.getTime()).toBeGreaterThan(setUpAgeMs - day)
  }
  expect(await diffHost(agent.host, agent.plan)).toEqual({ ops: [], findings: [] })
}

test('a control plane signs for itself, as a run that is reported and stored', async () => {
  const agent = await cluster.createAgent('cp1', 'control-plane')
  const before = await readCertificates(agent)
  expect(await renewLocalCertificates(agent.deps)).toEqual({ nextMs: 600_000, problems: [] })
  await expectRenewed(agent, before)
  expect(cluster.signing.items.length).toBe(0)
  const journal = (await readJournal(agent.host)).map(({ body }) => body)
  expect(journal.findLast(({ type }) => type === 'run-started')).toMatchObject({
    command: 'renew certificates',
  })
  expect(journal.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' })
  expect(agent.logged).toEqual([expect.stringContaining('renewed /etc/hyperkube/etcd/client.crt, ')])
  // A second check changes nothing.
  const after = await readCertificates(agent)
  await waitForRunEnd(agent)
  expect(await renewLocalCertificates(agent.deps)).toEqual({ nextMs: 600_000, problems: [] })
  expect(await readCertificates(agent)).toEqual(after)
})

test('certificates that are not due stay, and changed or deleted files are left to an operator', async () => {
  const agent = await cluster.createAgent('cp1', 'control-plane')
  const [etcd, kubelet] = ['/etc/hyperkube/etcd/ca.crt', '/etc/hyperkube/kubelet/client.crt']
  agent.host.clock.time -= setUpAgeMs / 2
  const before = await readCertificates(agent)
  expect(await renewLocalCertificates(agent.deps)).toEqual({ nextMs: 600_000, problems: [] })
  expect(await readCertificates(agent)).toEqual(before)
  agent.host.clock.time += setUpAgeMs / 2
  await writeFile(agent.host.toLocalPath(etcd), 'changed by hand')
  await rm(agent.host.toLocalPath(kubelet))
  await renewLocalCertificates(agent.deps)
  expect(await agent.read(etcd)).toBe('changed by hand')
  expect(await agent.read(kubelet)).toBe('')
  expect(await agent.read('/etc/hyperkube/etcd/client.crt')).not.toBe(before[0])
})

test('nothing is renewed while an operator holds the lock or a run is in progress', async () => {
  const agent = await cluster.createAgent('cp1', 'control-plane')
  const before = await readCertificates(agent)
  const { claims, runs } = agent.deps
  const claim = { holder: 'alice', generation: 1 }
  await agent.deps.claims.acquire(claim, false, false)
  expect(claims.held).toMatchObject(claim)
  expect(await renewLocalCertificates(agent.deps)).toEqual({ nextMs: 15_000 })
  await agent.deps.claims.release(claim)
  const done = Promise.withResolvers<void>()
  await runs.start('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', 'apply', async () => done.promise)
  expect(await renewLocalCertificates(agent.deps)).toEqual({ nextMs: 15_000 })
  expect(await readCertificates(agent)).toEqual(before)
  done.resolve()
  await waitForRunEnd(agent)
  await renewLocalCertificates(agent.deps)
  await expectRenewed(agent, before)
})

test('an operator who has disconnected does not delay renewal', async () => {
  const agent = await cluster.createAgent('cp1', 'control-plane')
  await agent.deps.claims.acquire({ holder: 'alice', generation: 1 }, false, false)
  agent.host.clock.time += 2 * minute
  expect(await renewLocalCertificates(agent.deps)).toMatchObject({ problems: [] })
  expect(agent.logged).toHaveLength(1)
})

test('a worker requests certificates, a control plane signs them, and the next check installs them', async () => {
  const [worker, controlPlane] = await createWorkerAndControlPlane()
  const before = await readCertificates(worker)
  expect(await renewLocalCertificates(worker.deps)).toEqual({ nextMs: 15_000, problems: [] })
  expect(await readCertificates(worker)).toEqual(before)
  expect(cluster.signing.items.map(({ spec }) => spec.username)).toEqual(['system:node:w1', 'system:node:w1'])
  // A second check finds the pending requests and does not create new requests.
  expect(await renewLocalCertificates(worker.deps)).toEqual({ nextMs: 15_000, problems: [] })
  expect(cluster.signing.items.length).toBe(2)
  expect(await signForNodes(controlPlane.deps)).toEqual({ nextMs: minute, problems: [] })
  expect(await renewLocalCertificates(worker.deps)).toEqual({ nextMs: 600_000, problems: [] })
  await expectRenewed(worker, before)
  expect(controlPlane.logged).toEqual([
    'renewed the certificate of system:node:w1 for system:node:w1',
    'renewed the certificate of hyperkube:apiserver-proxy:w1 for system:node:w1',
  ])
  const [one] = cluster.signing.items
  expect(one?.status.conditions).toMatchObject([{ type: 'Approved', status: 'True' }])
  // A signed request is not signed again.
  expect(await signForNodes(controlPlane.deps)).toEqual({ nextMs: minute, problems: [] })
  expect(controlPlane.logged).toHaveLength(2)
})

test('of several control planes, one signs each request, and none reports a problem', async () => {
  const worker = await cluster.createAgent('w1', 'worker')
  const others = await Promise.all(
    ['cp1', 'cp2', 'cp3'].map(async (name) => cluster.createAgent(name, 'control-plane')),
  )
  await renewLocalCertificates(worker.deps)
  const results = await Promise.all(others.map(async ({ deps }) => signForNodes(deps)))
  expect(results).toEqual(results.map(() => ({ nextMs: minute, problems: [] })))
  // The control planes check again and sign the requests that they skipped because of a conflict.
  await Promise.all(others.map(async ({ deps }) => signForNodes(deps)))
  expect(others.flatMap(({ logged }) => logged)).toHaveLength(2)
  expect(await renewLocalCertificates(worker.deps)).toMatchObject({ problems: [] })
  expect(worker.logged).toHaveLength(1)
})

test('an approved request without a certificate is signed by the next check', async () => {
  const [worker, controlPlane] = await createWorkerAndControlPlane()
  await renewLocalCertificates(worker.deps)
  for (const item of cluster.signing.items) {
    const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand' }]
    cluster.signing.store({ ...item, status: { ...item.status, conditions } })
  }
  await signForNodes(controlPlane.deps)
  expect(await renewLocalCertificates(worker.deps)).toEqual({ nextMs: 600_000, problems: [] })
})

test('a requester without the previous key is refused with a reason', async () => {
  const [worker, controlPlane] = await createWorkerAndControlPlane()
  const before = await readCertificates(worker)
  await renewLocalCertificates(worker.deps)
  const [first, second] = cluster.signing.items
  if (first === undefined || second === undefined) throw new Error('there are no requests')
  // The first request has the proof of the second and is already approved, so it can only become Failed, not
  // Denied. The second request has no proof.
  const proof = second.metadata.annotations?.[renewalAnnotations.proof] ?? ''
  for (const item of [first, second]) {
    const annotations = { ...item.metadata.annotations, [renewalAnnotations.proof]: proof }
    const conditions = item === first ? [{ type: 'Approved', status: 'True' }] : []
    cluster.signing.store({
      ...item,
      metadata: { ...item.metadata, annotations: item === first ? annotations : {} },
      status: { conditions },
    })
  }
  expect(await signForNodes(controlPlane.deps)).toEqual({ nextMs: minute, problems: [] })
  const conditions = cluster.signing.items.map(({ status }) => status.conditions?.at(-1))
  expect(conditions).toMatchObject([
    { type: 'Failed', status: 'True', reason: 'NotProven' },
    { type: 'Denied', status: 'True', reason: 'PreviousNotTrusted' },
  ])
  const { problems = [] } = await renewLocalCertificates(worker.deps)
  expect(problems).toMatchObject([
    { code: 'RENEWAL_DENIED', message: expect.stringContaining('does not hold the key') },
    { code: 'RENEWAL_DENIED' },
  ])
  expect(await readCertificates(worker)).toEqual(before)
})

test('a request of a user outside of the group system:nodes is refused', async () => {
  const [worker, controlPlane] = await createWorkerAndControlPlane()
  await renewLocalCertificates(worker.deps)
  for (const item of cluster.signing.items)
    cluster.signing.store({ ...item, spec: { ...item.spec, groups: ['system:authenticated'] } })
  await signForNodes(controlPlane.deps)
  const conditions = cluster.signing.items.map(({ status }) => status.conditions?.at(-1)?.reason)
  expect(conditions).toEqual(['NotRenewable', 'NotRenewable'])
})

test('a removed host and a host with another plan renew nothing', async () => {
  const [worker, controlPlane] = await createWorkerAndControlPlane()
  const before = await readCertificates(worker)
  await renewLocalCertificates(worker.deps)
  const [kubelet] = worker.planned
  cluster.signing.putHost(
    'w1',
    [kubelet].flatMap((one) => one ?? []),
  )
  await signForNodes(controlPlane.deps)
  const reasons = (): (string | undefined)[] =>
    cluster.signing.items.map(({ status }) => status.conditions?.at(-1)?.reason)
  expect(reasons()).toEqual(['PreviousCertificate', 'NotRenewable'])
  cluster.signing.clear()
  cluster.signing.removeHost('w1')
  await renewLocalCertificates(worker.deps)
  await signForNodes(controlPlane.deps)
  expect(new Set(reasons())).toEqual(new Set(['NotRenewable']))
  expect(await readCertificates(worker)).toEqual(before)
})

test('a node that collects certificates is refused after four rounds', async () => {
  const [worker, first] = await createWorkerAndControlPlane()
  const second = await cluster.createAgent('cp2', 'control-plane')
  const [planned] = worker.planned
  if (planned === undefined) throw new Error('the worker has no certificate')
  const reasons: (string | undefined)[] = []
  const collect = async (signer: RenewalTestAgent): Promise<void> => {
    const { request } = await makeRequest('key', planned.subject, planned.names)
    using client = await createNodeClient(worker.host, worker.plan, worker.deps.signal)
    if (client === undefined) throw new Error('the worker has no client')
    await requestSignature(worker.host, client, planned, request)
    await signForNodes(signer.deps)
    const item = cluster.signing.items.find(
      ({ metadata }) => metadata.name === buildSigningRequestName(request),
    )
    reasons.push(item?.status.conditions?.at(-1)?.reason)
  }
  // Each control plane also counts the certificates that the other one has signed.
  for (let round = 0; round < 10; round++) await collect(round % 2 === 0 ? first : second)
  expect(reasons).toEqual([
    ...Array<string>(8).fill('PreviousCertificate'),
    'TooManyRenewals',
    'TooManyRenewals',
  ])
  expect(first.logged.at(-1)).toContain('system:node:w1 got 8 certificates in 24 h 00 min; the limit is 8')
})

test('a certificate for another key is refused', async () => {
  const [worker, controlPlane] = await createWorkerAndControlPlane()
  const before = await readCertificates(worker)
  await renewLocalCertificates(worker.deps)
  await signForNodes(controlPlane.deps)
  const [first, second] = cluster.signing.items
  if (first === undefined || second === undefined) throw new Error('there are no requests')
  cluster.signing.store({ ...first, status: second.status })
  expect(await renewLocalCertificates(worker.deps)).toMatchObject({
    problems: [{ code: 'APPLY_CERTIFICATE_REFUSED' }],
  })
  const after = await readCertificates(worker)
  // The first certificate was refused and not replaced. The second certificate is valid, so it was renewed.
  expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false])
})

test('a request without a response is reported after a while', async () => {
  const worker = await cluster.createAgent('w1', 'worker')
  await renewLocalCertificates(worker.deps)
  worker.host.clock.time += 6 * minute
  expect(await renewLocalCertificates(worker.deps)).toMatchObject({
    nextMs: 600_000,
    problems: [{ code: 'RENEWAL_NO_RESPONSE' }, { code: 'RENEWAL_NO_RESPONSE' }],
  })
})

test('an etcd host that is not a node and a host with expired certificates cannot renew', async () => {
  const agent = await cluster.createAgent('db1', 'etcd')
  expect(await renewLocalCertificates(agent.deps)).toMatchObject({ problems: [{ code: 'RENEWAL_NO_API' }] })
  const late = await cluster.createAgent('cp1', 'control-plane')
  late.host.clock.time += year
  const before = await readCertificates(late)
  expect(await renewLocalCertificates(late.deps)).toMatchObject({ problems: [{ code: 'RENEWAL_TOO_LATE' }] })
  expect(await readCertificates(late)).toEqual(before)
})

test('a stopped agent aborts its renewal, and the next check completes it', async () => {
  const worker = await cluster.createAgent('w1', 'worker')
  const controlPlane = await cluster.createAgent('cp1', 'control-plane')
  const stopped = new AbortController()
  stopped.abort()
  await expect(signForNodes({ ...controlPlane.deps, signal: stopped.signal })).rejects.toThrow('aborted')
  await expect(renewLocalCertificates({ ...worker.deps, signal: stopped.signal })).rejects.toThrow('aborted')
  const before = await readCertificates(worker)
  await renewLocalCertificates(worker.deps)
  await signForNodes(controlPlane.deps)
  await renewLocalCertificates(worker.deps)
  await expectRenewed(worker, before)
})

test('wherever a renewal is interrupted, the next check completes it', async () => {
  const agent = await cluster.createAgent('cp1', 'signer')
  for (let ends = 0; ; ends += 7) {
    const before = await readCertificates(agent)
    const host = withCrash(agent.host, { calls: 0, ends })
    const wasInterrupted = await renewLocalCertificates({ ...agent.deps, host }).then(
      ({ problems = [] }) => problems.length > 0,
      (error: unknown) => {
        expect(error).toBeInstanceOf(Killed)
        return true
      },
    )
    await waitForRunEnd(agent)
    expect(await renewLocalCertificates(agent.deps)).toMatchObject({ problems: [] })
    await expectRenewed(agent, before)
    await waitForRunEnd(agent)
    if (!wasInterrupted) break
    // Advances the host's clock until the new certificates are due again. The clock may pass the real time,
    // because this test does not use the API.
    agent.host.clock.time += setUpAgeMs
  }
})

test('the name of a signing request is derived from its content', async () => {
  const { request } = await makeRequest('key', { commonName: 'a', organizations: [] }, { dns: [], ip: [] })
  expect(buildSigningRequestName(request)).toMatch(/^hyperkube-renewal-[0-9a-f]{32}$/)
  expect(buildSigningRequestName(request)).not.toBe(buildSigningRequestName(`${request} `))
})

test('a signing request contains the previous certificate and no private key', async () => {
  const worker = await cluster.createAgent('w1', 'worker')
  await renewLocalCertificates(worker.deps)
  const text = JSON.stringify(cluster.signing.items)
  expect(text).not.toContain('PRIVATE')
  const [item] = cluster.signing.items
  const previous = item?.metadata.annotations?.[renewalAnnotations.previous] ?? ''
  expect(new X509Certificate(previous).subject).toContain('system:node:w1')
})
