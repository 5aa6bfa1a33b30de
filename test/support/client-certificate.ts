import type { Credentials } from '../../lab/cluster/kube-api.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { makeRequest } from '../../src/pki/request.ts'
import { signRequest } from '../../src/pki/sign.ts'

/** Somebody whom an authority of the cluster knows, for an hour. */
export async function clientOf(
  { authorities }: Identity,
  authority: 'kubernetes' | 'etcd',
  commonName: string,
  organizations: readonly string[],
): Promise<Credentials> {
  const subject = { commonName, organizations }
  const names = { dns: [], ip: [] }
  const { request, privateKey } = await makeRequest('test', subject, names)
  const wish = { subject, names, usages: ['client'] as const, lifetime: 3_600_000 }
  return {
    authority: authorities[authority].certificate,
    certificate: await signRequest(authorities[authority], request, wish, new Date()),
    key: privateKey.revealText(),
  }
}
