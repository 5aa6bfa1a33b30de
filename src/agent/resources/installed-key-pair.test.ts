import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { locateCaFiles } from '../../contract/renewal.ts'
import { buildComponent, buildFile, buildPlan } from '../../diff/testing/fixtures.ts'
import { runProgram } from '../../kit/command.ts'
import { type CaName, caNames } from '../../pki/ca.ts'
import { findPlanCas } from './installed-key-pair.ts'

const directory = await mkdtemp(join(tmpdir(), 'cas-'))
afterAll(async () => rm(directory, { recursive: true }))

async function createOpensslCa(commonName: string): Promise<string> {
  const [key, certificate] = [join(directory, 'key'), join(directory, 'certificate')]
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const options = ['-subj', `/CN=${commonName}`, '-keyout', key, '-out', certificate]
  await runProgram(['openssl', 'req', '-x509', '-nodes', '-days', '30', ...algorithm, ...options])
  return readFile(certificate, 'utf8')
}

const shared = await createOpensslCa('kube-ca')
const newEtcd = await createOpensslCa('etcd-ca')
const newKubernetes = await createOpensslCa('kubernetes-ca')

describe('with the CA of RKE1, which signs for the cluster and for etcd', () => {
  const read = (name: CaName, cluster: readonly string[], etcd: readonly string[]): readonly string[] =>
    findPlanCas(
      buildPlan(
        buildComponent({
          name: 'hyperkube-agent',
          files: [
            buildFile(locateCaFiles('kubernetes').certificates, cluster.join('')),
            buildFile(locateCaFiles('etcd').certificates, etcd.join('')),
          ],
        }),
        buildComponent({ name: 'etcd', files: [buildFile('/etc/hyperkube/etcd/ca.crt', etcd.join(''))] }),
      ),
      name,
    ).map((one) => one.toString())

  test.each([
    { phase: 'before a rotation', cluster: [shared], etcd: [shared] },
    { phase: 'etcd trusts its new CA', cluster: [shared], etcd: [shared, newEtcd] },
    { phase: 'etcd uses its new CA', cluster: [shared], etcd: [newEtcd, shared] },
    { phase: 'etcd trusts only its new CA', cluster: [shared], etcd: [newEtcd] },
    { phase: 'both use new CAs', cluster: [newKubernetes, shared], etcd: [newEtcd, shared] },
    { phase: 'only the cluster has a new CA', cluster: [newKubernetes], etcd: [shared] },
  ])('$phase: each has the CAs of its own files, and the first one signs', ({ cluster, etcd }) => {
    expect(read('kubernetes', cluster, etcd)).toEqual(cluster)
    expect(read('etcd', cluster, etcd)).toEqual(etcd)
  })
})

test.each([
  ['kubernetes', 'kubernetes'],
  ['kubernetes-ca', 'kubernetes'],
  ['etcd-ca', 'etcd'],
  ['front-proxy-ca', 'front-proxy'],
  ['Corporate CA', undefined],
])('a CA with the name %s is the CA %s of the plan', async (commonName, expected) => {
  const path = `/etc/hyperkube/kube-apiserver/${expected === 'etcd' ? 'etcd-ca' : 'ca'}.crt`
  const file = buildFile(path, await createOpensslCa(commonName))
  const plan = buildPlan(buildComponent({ name: 'kube-apiserver', files: [file] }))
  expect(caNames.filter((name) => findPlanCas(plan, name).length > 0)).toEqual(
    expected === undefined ? [] : [expected],
  )
})
