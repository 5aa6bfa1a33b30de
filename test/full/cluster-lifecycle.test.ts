import { afterAll, beforeAll, expect, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { issueClientCertificate } from '../support/client-certificate.ts'
import { runAsPlanned } from '../support/dry-run.ts'
import { takeHostSnapshot } from '../support/host-snapshot.ts'
import { openFreshLab } from '../support/lab.ts'
import { upgradeUnderLoad } from '../support/upgrade-under-load.ts'
import { listReadyNodes, listVoters } from '../support/membership.ts'
import { createOperator, type Operator } from '../support/operator.ts'

let lab: Lab
let hosts: ReadonlyMap<string, Host>
let operator: Operator

beforeAll(async () => {
  lab = await openFreshLab('life-full')
  const all = await lab.up(['cp1', 'cp2', 'cp3', 'w1', 'w2'])
  hosts = new Map(all.map((host) => [host.name, host]))
  operator = await createOperator(lab, hostsNamed('cp1', 'w1'), '1.36.4')
  await operator.must(0, 'up', '--yes')
}, 900_000)
afterAll(async () => {
  try {
    await operator.close()
  } finally {
    await lab.down()
  }
})

test('control planes and a worker join, and etcd members join one by one as learners', async () => {
  await setHosts('cp1', 'cp2', 'cp3', 'w1', 'w2')
  const { shown } = await runAsPlanned(operator, [...hosts.values()], ['up'])
  expect(shown).toContain('etcd on cp2, while etcd is healthy on cp1')
  expect(shown).toContain('etcd on cp3, while etcd is healthy on cp1 and cp2')
  expect(await voters('cp1')).toEqual(['cp1', 'cp2', 'cp3'])
  expect(await nodes('cp3')).toEqual(['cp1', 'cp2', 'cp3', 'w1', 'w2'])
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('an upgrade to the next minor version under load fails no request', { timeout: 900_000 }, async () => {
  const shown = await operator.must(3, 'upgrade', '--to', '1.37.1', '--dry-run')
  expect(shown.stderr).toContain(
    'etcd and API server on cp1, while 2 of 3 etcd members are healthy without cp1',
  )
  const all = { hosts: [...hosts.values()], server: hostNamed('cp3'), from: hostNamed('w1') }
  await upgradeUnderLoad(operator, '1.37.1', all)
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('hosts that are no longer in cluster.yml are removed in a safe order', async () => {
  await setHosts('cp2', 'cp3', 'w2')
  const { shown } = await runAsPlanned(operator, [...hosts.values()], ['up'])
  expect(shown).toContain('cp1 (no longer in cluster.yml)')
  expect(shown).toContain('remove w1, drained first')
  expect(shown).toContain('remove cp1, drained first, removed from etcd')
  expect(await voters('cp2')).toEqual(['cp2', 'cp3'])
  expect(await nodes('cp2')).toEqual(['cp2', 'cp3', 'w2'])
  for (const name of ['cp1', 'w1']) {
    const left = (await takeHostSnapshot(hostNamed(name))).files?.filter((file) => file.includes('hyperkube'))
    expect(left ?? []).toEqual([])
  }
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

/** Replaces all hosts in cluster.yml. Names that start with `cp` are control planes. */
async function setHosts(...names: readonly string[]): Promise<void> {
  await operator.edit((document) =>
    document.setIn(
      ['spec', 'hosts'],
      hostsNamed(...names).map(({ name, address }) => ({
        name,
        address,
        roles: [name.startsWith('cp') ? 'control-plane' : 'worker'],
      })),
    ),
  )
}

function hostsNamed(...names: readonly string[]): Host[] {
  return names.map(hostNamed)
}

function hostNamed(name: string): Host {
  const found = hosts.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

async function voters(name: string): Promise<string[]> {
  return listVoters(hostNamed(name))
}

async function nodes(name: string): Promise<string[]> {
  const admin = await issueClientCertificate(await operator.identity(), 'kubernetes', 'test', [
    'hyperkube:admins',
  ])
  const api = new KubeApi(`https://${hostNamed(name).address}:6443`, admin)
  try {
    return await listReadyNodes(api)
  } finally {
    api.close()
  }
}
