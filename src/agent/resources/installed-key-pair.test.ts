import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { buildComponent, buildFile, buildPlan } from '../../diff/testing/fixtures.ts'
import { runProgram } from '../../kit/command.ts'
import { caNames } from '../../pki/ca.ts'
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

test.each([
  ['kubernetes', 'kubernetes'],
  ['kubernetes-ca', 'kubernetes'],
  ['etcd-ca', 'etcd'],
  ['front-proxy-ca', 'front-proxy'],
  ['Corporate CA', undefined],
])('a CA with the name %s is the CA %s of the plan', async (commonName, expected) => {
  const file = buildFile('/etc/hyperkube/kube-apiserver/ca.crt', await createOpensslCa(commonName))
  const plan = buildPlan(buildComponent({ name: 'kube-apiserver', files: [file] }))
  expect(caNames.filter((name) => findPlanCas(plan, name).length > 0)).toEqual(
    expected === undefined ? [] : [expected],
  )
})
