import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { isSeq, type YAMLMap } from 'yaml'
import type { UpCluster } from './up-cluster.ts'

/**
 * Checks commands that read the cluster without facts of hosts, while cluster.yml has only names of hosts. ssh
 * knows their addresses. The internal addresses are in no file, and certificates of etcd do not contain the names.
 */
export async function expectStatusOfHostsByName({ operator, hosts }: UpCluster): Promise<void> {
  const sshConfig = hosts.map(({ name, address }) => `Host ${name}.lab\n  HostName ${address}\n`)
  await writeFile(join(operator.directory, '.ssh/config'), sshConfig.join(''))
  const addresses = new Map(hosts.map(({ name, address }) => [name, address]))
  await setAddresses(operator, (name) => `${name}.lab`)
  try {
    const status = await operator.must(0, 'status')
    expect(status.stdout).toContain(`${hosts.length} of ${hosts.length} hosts reachable`)
    const members = (await operator.must(0, 'etcd', 'status')).stdout.match(/\bready\b/g) ?? []
    expect(members).toHaveLength(hosts.filter(({ name }) => name.startsWith('cp')).length)
    await operator.must(0, 'kubectl', 'get', 'nodes')
    expect((await operator.must(1, 'etcd', 'recover', '--dry-run')).stderr).toContain('ETCD_RECOVER_QUORUM')
  } finally {
    await setAddresses(operator, (name) => addresses.get(name) ?? '')
  }
}

async function setAddresses(
  { edit }: UpCluster['operator'],
  addressOf: (name: string) => string,
): Promise<void> {
  await edit((document) => {
    const hosts = document.getIn(['spec', 'hosts'])
    if (!isSeq<YAMLMap<string>>(hosts)) throw new Error('spec.hosts is no list')
    for (const host of hosts.items) host.set('address', addressOf(String(host.get('name'))))
  })
}
