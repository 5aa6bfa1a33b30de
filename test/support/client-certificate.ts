import type { Credentials } from '../../lab/cluster/kube-api.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { makeRequest } from '../../src/pki/request.ts'
import { signRequest } from '../../src/pki/sign.ts'

/** Issues a client certificate from a CA of the cluster, valid for one hour. */
export async function issueClientCertificate(
  { cas }: Identity,
  ca: 'kubernetes' | 'etcd',
  commonName: string,
  organizations: readonly string[],
): Promise<Credentials> {
  const subject = { commonName, organizations }
  const names = { dns: [], ip: [] }
  const { request, privateKey } = await makeRequest('test', subject, names)
  const spec = { subject, names, usages: ['client'] as const, lifetime: 3_600_000 }
  return {
    ca: cas[ca].certificate,
    certificate: await signRequest(cas[ca], request, spec, new Date()),
    key: privateKey.revealText(),
  }
}
