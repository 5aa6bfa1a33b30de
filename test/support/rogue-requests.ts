import { isDeepStrictEqual } from 'node:util'
import { array, constantFrom, sample } from 'fast-check'
import { ApiError, KubeApi } from '../../lab/cluster/kube-api.ts'
import { createSemaphore, settleAll } from '../../src/kit/concurrency.ts'
import {
  applyMutations,
  createRequestBuilder,
  type FakeServingRequest,
  mutations,
  validServingRequest,
} from '../../src/pki/testing/fake-serving-requests.ts'
import { issueClientCertificate } from './client-certificate.ts'
import { buildSigningRequest, signingRequestsPath } from './signing-requests.ts'
import type { UpCluster } from './up-cluster.ts'

const roleName = 'anyone-may-request'

/**
 * Creates CSRs that must not be approved. Each requesting user has a client certificate of the cluster and
 * may create CSRs. Returns how many CSRs the API accepted.
 */
export async function createRogueRequests(
  { api, hosts, identity }: UpCluster,
  count: number,
  seed: number,
): Promise<number> {
  const w1 = hosts.find(({ name }) => name === 'w1')
  const names = [...validServingRequest.names.slice(0, 1), { type: 'ip', value: w1?.address ?? '' } as const]
  const valid: FakeServingRequest = { ...validServingRequest, names }
  const mutationLists = array(constantFrom(...Object.keys(mutations)), { minLength: 1, maxLength: 4 })
  const rogues = sample(mutationLists, { numRuns: 2 * count, seed })
    .map((mutationNames) => applyMutations(valid, mutationNames))
    .filter((rogue) => !isDeepStrictEqual(rogue, valid))
    .slice(0, count)
  if (rogues.length < count) throw new Error('too many requests are unchanged')
  await allowAnyoneToRequest(api)
  await using clients = new RequesterClients(`https://${hosts[0]?.address}:6443`, identity)
  const buildRequest = await createRequestBuilder()
  const limit = createSemaphore(8)
  const accepted = await settleAll(
    rogues.map(async (rogue, index) =>
      limit(async () => {
        const { username, groups, signer, usages, request } = await buildRequest(rogue)
        const spec = { signerName: signer, usages, request }
        const client = await clients.get(username, groups)
        return client.create(signingRequestsPath, buildSigningRequest(`rogue-${index}`, spec)).then(
          () => true,
          (error: unknown) => {
            if (error instanceof ApiError && error.status < 500) return false
            throw error
          },
        )
      }),
    ),
  )
  return accepted.filter(Boolean).length
}

async function allowAnyoneToRequest(api: KubeApi): Promise<void> {
  const group = 'rbac.authorization.k8s.io'
  const rule = {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
    verbs: ['create'],
  }
  const common = { apiVersion: `${group}/v1`, metadata: { name: roleName } }
  await api.ensure(`/apis/${group}/v1/clusterroles`, { ...common, kind: 'ClusterRole', rules: [rule] })
  await api.ensure(`/apis/${group}/v1/clusterrolebindings`, {
    ...common,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: roleName },
    subjects: [{ apiGroup: group, kind: 'Group', name: 'system:authenticated' }],
  })
}

/** API clients, one for each user. */
class RequesterClients implements AsyncDisposable {
  readonly #server: string
  readonly #identity: UpCluster['identity']
  readonly #clients = new Map<string, Promise<KubeApi>>()

  constructor(server: string, identity: UpCluster['identity']) {
    this.#server = server
    this.#identity = identity
  }

  async get(username: string, groups: readonly string[]): Promise<KubeApi> {
    const key = JSON.stringify([username, groups])
    const existing = this.#clients.get(key) ?? this.#create(username, groups)
    this.#clients.set(key, existing)
    return existing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#clients.values()) (await one).close()
  }

  async #create(username: string, groups: readonly string[]): Promise<KubeApi> {
    // The API server adds this group to every authenticated user.
    const own = groups.filter((group) => group !== 'system:authenticated')
    return new KubeApi(
      this.#server,
      await issueClientCertificate(this.#identity, 'kubernetes', username, own),
    )
  }
}
