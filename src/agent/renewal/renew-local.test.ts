import { rm, writeFile } from 'node:fs/promises'
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { renewalAnnotations } from '../../contract/renewal.ts'
import { until } from '../../kit/poll-until.ts'
import { inspectCertificate } from '../../pki/inspect.ts'
import { day, year } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { diffHost } from '../apply/diff-host.ts'
import { readJournal } from '../apply/journal.ts'
import { Killed, mortal } from '../apply/testing/crash-injection.ts'
import { answerOthers } from './sign-for-nodes.ts'
import { renewOwn } from './renew-local.ts'
import { nameFor } from './signing-request.ts'
import { setUp, type TestAgent, TestCluster } from './testing/renewal-cluster.ts'

let cluster: TestCluster
beforeAll(async () => {
  cluster = await TestCluster.make()
})
beforeEach(() => cluster.api.items.clear())
afterAll(async () => cluster[Symbol.asyncDispose]())

const minute = 60_000

async function certificatesOf({ wishes, read }: TestAgent): Promise<string[]> {
  return Promise.all(wishes.map(async ({ certificateFile }) => read(certificateFile)))
}

/** The end of a run is told before it is forgotten. */
async function rest({ scene }: TestAgent): Promise<void> {
  await until('the run to be over', async () => !scene.runs.busy, { within: 5000, every: 1 })
}

/** Each is another one than before, says the same, and the host is as its plan wants it. */
async function expectRenewed(agent: TestAgent, before: readonly string[]): Promise<void> {
  const after = await certificatesOf(agent)
  for (const [index, pem] of after.entries()) {
    const [former, now] = [inspectCertificate(before[index] ?? ''), inspectCertificate(pem)]
    expect(now.serial).not.toBe(former.serial)
    expect(now.subjectKeyId).not.toBe(former.subjectKeyId)
    expect(now.commonName).toBe(former.commonName)
    expect(now.organizations).toEqual(former.organizations)
    expect(now.notAfter.getTime() - former.notAfter.getTime()).toBeGreaterThan(setUp - day)
  }
  expect(await diffHost(agent.host, agent.plan)).toEqual({ ops: [], findings: [] })
}

test('a control plane signs for itself, as a run that is told and written down', async () => {
  const agent = await cluster.agent('cp1', 'control-plane')
  const before = await certificatesOf(agent)
  expect(await renewOwn(agent.scene)).toEqual({ next: 600_000, troubles: [] })
  await expectRenewed(agent, before)
  expect(cluster.api.items.size).toBe(0)
  const journal = (await readJournal(agent.host)).map(({ what }) => what)
  expect(journal.findLast(({ type }) => type === 'run-started')).toMatchObject({
    command: 'renew certificates',
  })
  expect(journal.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' })
  expect(agent.said).toEqual([expect.stringContaining('renewed /etc/hyperkube/etcd/client.crt, ')])
  // And nothing is done twice.
  const after = await certificatesOf(agent)
  await rest(agent)
  expect(await renewOwn(agent.scene)).toEqual({ next: 600_000, troubles: [] })
  expect(await certificatesOf(agent)).toEqual(after)
})

test('what is good for long is left alone, and what was changed is left to an operator', async () => {
  const agent = await cluster.agent('cp1', 'control-plane')
  const [etcd, kubelet] = ['/etc/hyperkube/etcd/ca.crt', '/etc/hyperkube/kubelet/client.crt']
  agent.host.clock.time -= setUp / 2
  const before = await certificatesOf(agent)
  expect(await renewOwn(agent.scene)).toEqual({ next: 600_000, troubles: [] })
  expect(await certificatesOf(agent)).toEqual(before)
  agent.host.clock.time += setUp / 2
  await writeFile(agent.host.place(etcd), 'changed by hand')
  await rm(agent.host.place(kubelet))
  await renewOwn(agent.scene)
  expect(await agent.read(etcd)).toBe('changed by hand')
  expect(await agent.read(kubelet)).toBe('')
  expect(await agent.read('/etc/hyperkube/etcd/client.crt')).not.toBe(before[0])
})

test('nothing is done while an operator is there, or a run is under way', async () => {
  const agent = await cluster.agent('cp1', 'control-plane')
  const before = await certificatesOf(agent)
  const { claims, runs } = agent.scene
  const claim = { holder: 'alice', generation: 1 }
  await agent.scene.claims.take(claim, false, false)
  expect(claims.held).toMatchObject(claim)
  expect(await renewOwn(agent.scene)).toEqual({ next: 15_000 })
  await agent.scene.claims.release(claim)
  const done = Promise.withResolvers<void>()
  await runs.start('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', 'apply', async () => done.promise)
  expect(await renewOwn(agent.scene)).toEqual({ next: 15_000 })
  expect(await certificatesOf(agent)).toEqual(before)
  done.resolve()
  await rest(agent)
  await renewOwn(agent.scene)
  await expectRenewed(agent, before)
})

test('one who is not heard of any more keeps nobody waiting', async () => {
  const agent = await cluster.agent('cp1', 'control-plane')
  await agent.scene.claims.take({ holder: 'alice', generation: 1 }, false, false)
  agent.host.clock.time += 2 * minute
  expect(await renewOwn(agent.scene)).toMatchObject({ troubles: [] })
  expect(agent.said).toHaveLength(1)
})

test('a host without keys asks, a control plane answers, and the next look puts it in its place', async () => {
  const [worker, controlPlane] = [
    await cluster.agent('w1', 'worker'),
    await cluster.agent('cp1', 'control-plane'),
  ]
  const before = await certificatesOf(worker)
  expect(await renewOwn(worker.scene)).toEqual({ next: 15_000, troubles: [] })
  expect(await certificatesOf(worker)).toEqual(before)
  expect([...cluster.api.items.values()].map(({ spec }) => spec.username)).toEqual([
    'system:node:w1',
    'system:node:w1',
  ])
  // Who asks again asks for the same.
  expect(await renewOwn(worker.scene)).toEqual({ next: 15_000, troubles: [] })
  expect(cluster.api.items.size).toBe(2)
  expect(await answerOthers(controlPlane.scene)).toEqual({ next: minute, troubles: [] })
  expect(await renewOwn(worker.scene)).toEqual({ next: 600_000, troubles: [] })
  await expectRenewed(worker, before)
  expect(controlPlane.said).toEqual([
    'renewed the certificate of system:node:w1 for system:node:w1',
    'renewed the certificate of hyperkube:apiserver-proxy:w1 for system:node:w1',
  ])
  const [one] = cluster.api.items.values()
  expect(one?.status.conditions).toMatchObject([{ type: 'Approved', status: 'True' }])
  // What is answered is not answered again.
  expect(await answerOthers(controlPlane.scene)).toEqual({ next: minute, troubles: [] })
  expect(controlPlane.said).toHaveLength(2)
})

test('of several control planes one answers, and none complains', async () => {
  const worker = await cluster.agent('w1', 'worker')
  const others = await Promise.all(
    ['cp1', 'cp2', 'cp3'].map(async (name) => cluster.agent(name, 'control-plane')),
  )
  await renewOwn(worker.scene)
  const looks = await Promise.all(others.map(async ({ scene }) => answerOthers(scene)))
  expect(looks).toEqual(looks.map(() => ({ next: minute, troubles: [] })))
  // One that was overtaken in the middle leaves nothing open for long.
  await Promise.all(others.map(async ({ scene }) => answerOthers(scene)))
  expect(others.flatMap(({ said }) => said)).toHaveLength(2)
  expect(await renewOwn(worker.scene)).toMatchObject({ troubles: [] })
  expect(worker.said).toHaveLength(1)
})

test('what one was cut over after it was approved is ended by the next', async () => {
  const [worker, controlPlane] = [
    await cluster.agent('w1', 'worker'),
    await cluster.agent('cp1', 'control-plane'),
  ]
  await renewOwn(worker.scene)
  for (const item of cluster.api.items.values()) {
    const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand' }]
    cluster.api.put({ ...item, status: { ...item.status, conditions } })
  }
  await answerOthers(controlPlane.scene)
  expect(await renewOwn(worker.scene)).toEqual({ next: 600_000, troubles: [] })
})

test('who does not hold the former key is refused, and is told why', async () => {
  const [worker, controlPlane] = [
    await cluster.agent('w1', 'worker'),
    await cluster.agent('cp1', 'control-plane'),
  ]
  const before = await certificatesOf(worker)
  await renewOwn(worker.scene)
  const [first, second] = cluster.api.items.values()
  if (first === undefined || second === undefined) throw new Error('nothing was asked')
  // Approved by somebody who did not look: it cannot be denied any more.
  const proof = second.metadata.annotations?.[renewalAnnotations.proof] ?? ''
  for (const item of [first, second]) {
    const annotations = { ...item.metadata.annotations, [renewalAnnotations.proof]: proof }
    const conditions = item === first ? [{ type: 'Approved', status: 'True' }] : []
    cluster.api.put({
      ...item,
      metadata: { ...item.metadata, annotations: item === first ? annotations : {} },
      status: { conditions },
    })
  }
  expect(await answerOthers(controlPlane.scene)).toEqual({ next: minute, troubles: [] })
  const told = [...cluster.api.items.values()].map(({ status }) => status.conditions?.at(-1))
  expect(told).toMatchObject([
    { type: 'Failed', status: 'True', reason: 'NotProven' },
    { type: 'Denied', status: 'True', reason: 'FormerNotTrusted' },
  ])
  const { troubles = [] } = await renewOwn(worker.scene)
  expect(troubles).toMatchObject([
    { code: 'RENEWAL_DENIED', message: expect.stringContaining('does not hold the key') },
    { code: 'RENEWAL_DENIED' },
  ])
  expect(await certificatesOf(worker)).toEqual(before)
})

test('who only bears the name of a node is none', async () => {
  const [worker, controlPlane] = [
    await cluster.agent('w1', 'worker'),
    await cluster.agent('cp1', 'control-plane'),
  ]
  await renewOwn(worker.scene)
  for (const item of cluster.api.items.values())
    cluster.api.put({ ...item, spec: { ...item.spec, groups: ['system:authenticated'] } })
  await answerOthers(controlPlane.scene)
  const told = [...cluster.api.items.values()].map(({ status }) => status.conditions?.at(-1)?.reason)
  expect(told).toEqual(['NotRenewable', 'NotRenewable'])
})

test('a certificate for another key is not taken', async () => {
  const [worker, controlPlane] = [
    await cluster.agent('w1', 'worker'),
    await cluster.agent('cp1', 'control-plane'),
  ]
  const before = await certificatesOf(worker)
  await renewOwn(worker.scene)
  await answerOthers(controlPlane.scene)
  const [first, second] = cluster.api.items.values()
  if (first === undefined || second === undefined) throw new Error('nothing was asked')
  cluster.api.put({ ...first, status: second.status })
  expect(await renewOwn(worker.scene)).toMatchObject({ troubles: [{ code: 'APPLY_CERTIFICATE_REFUSED' }] })
  const after = await certificatesOf(worker)
  // The other one fits, and is not kept away by it.
  expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false])
})

test('a request that nobody answers is complained of after a while', async () => {
  const worker = await cluster.agent('w1', 'worker')
  await renewOwn(worker.scene)
  worker.host.clock.time += 6 * minute
  expect(await renewOwn(worker.scene)).toMatchObject({
    next: 600_000,
    troubles: [{ code: 'RENEWAL_NOT_ANSWERED' }, { code: 'RENEWAL_NOT_ANSWERED' }],
  })
})

test('a member of etcd that is no node has no way, and one that has expired neither', async () => {
  const agent = await cluster.agent('db1', 'etcd')
  expect(await renewOwn(agent.scene)).toMatchObject({ troubles: [{ code: 'RENEWAL_NO_WAY' }] })
  const late = await cluster.agent('cp1', 'control-plane')
  late.host.clock.time += year
  const before = await certificatesOf(late)
  expect(await renewOwn(late.scene)).toMatchObject({ troubles: [{ code: 'RENEWAL_TOO_LATE' }] })
  expect(await certificatesOf(late)).toEqual(before)
})

test('an agent that shall end leaves what it is at, and nothing is lost by it', async () => {
  const worker = await cluster.agent('w1', 'worker')
  const controlPlane = await cluster.agent('cp1', 'control-plane')
  const gone = new AbortController()
  gone.abort()
  await expect(answerOthers({ ...controlPlane.scene, signal: gone.signal })).rejects.toThrow('aborted')
  await expect(renewOwn({ ...worker.scene, signal: gone.signal })).rejects.toThrow('aborted')
  const before = await certificatesOf(worker)
  await renewOwn(worker.scene)
  await answerOthers(controlPlane.scene)
  await renewOwn(worker.scene)
  await expectRenewed(worker, before)
})

test('wherever a renewal is cut, the next look ends it', async () => {
  const agent = await cluster.agent('cp1', 'signer')
  for (let ends = 0; ; ends += 7) {
    const before = await certificatesOf(agent)
    const host = mortal(agent.host, { calls: 0, ends })
    const cut = await renewOwn({ ...agent.scene, host }).then(
      ({ troubles = [] }) => troubles.length > 0,
      (error: unknown) => {
        expect(error).toBeInstanceOf(Killed)
        return true
      },
    )
    await rest(agent)
    expect(await renewOwn(agent.scene)).toMatchObject({ troubles: [] })
    await expectRenewed(agent, before)
    await rest(agent)
    if (!cut) break
    // Hosts live in the past, and the API in the present; here nobody asks it.
    agent.host.clock.time += setUp
  }
})

test('a request is named by what it asks', async () => {
  const { request } = await makeRequest('key', { commonName: 'a', organizations: [] }, { dns: [], ip: [] })
  expect(nameFor(request)).toMatch(/^hyperkube-renewal-[0-9a-f]{32}$/)
  expect(nameFor(request)).not.toBe(nameFor(`${request} `))
})

test('what is sent is one certificate, and no key', async () => {
  const worker = await cluster.agent('w1', 'worker')
  await renewOwn(worker.scene)
  const text = JSON.stringify([...cluster.api.items.values()])
  expect(text).not.toContain('PRIVATE')
  const [item] = cluster.api.items.values()
  const former = item?.metadata.annotations?.[renewalAnnotations.former] ?? ''
  expect(new X509Certificate(former).subject).toContain('system:node:w1')
})
